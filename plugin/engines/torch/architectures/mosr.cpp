// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// MoSR: a chain of gated convolutions.
//
// "gblocks.0" is the first convolution.  The blocks follow, then three convolutions with
// activations after the first and second.
#include "architecture.h"
#include "dysample.h"

#include "base/compose.h"

namespace engine_torch
{
namespace mosr_network
{
namespace
{

using dnn_torch::concat;

// Constants of the published models.
constexpr double norm_epsilon = 1e-6;
constexpr int64_t sample_groups = 4;
constexpr int64_t ensemble = 8; // "gps" takes the mean of so many pictures

std::string gblocks(int64_t i)
{
    return concat("gblocks.", i);
}

// Half of the channels gate the others; the last of those also get a larger kernel.
Expression block(Net &net, const Expression &before, const std::string &name)
{
    const Weights &weights = net.weights();
    const int64_t hidden = weights.size(name + ".fc1.weight", 0) / 2;
    const int64_t convolved = weights.size(name + ".conv.weight", 0);
    if (convolved < 1 || convolved > hidden)
        net.contradict(concat(name, ".conv takes ", convolved, " of ", hidden, " channels"));
    const Expression all =
        net.conv(net.channel_norm(before, name + ".norm", norm_epsilon), name + ".fc1");
    const auto channels = [&](int64_t from, int64_t to) {
        return net.let(concat(all, "[:, ", from, ":", to, "]"));
    };
    const int64_t split = 2 * hidden - convolved;
    const Expression gate = net.activate(channels(0, hidden), "mish");
    const Expression large =
        net.conv(channels(split, 2 * hidden), name + ".conv", {.groups = convolved});
    const Expression gated = net.multiply(gate, net.cat({channels(hidden, split), large}));
    const Expression x = net.activate(net.conv(gated, name + ".fc2"), "mish");
    return net.let(concat(x, " + (", before, " - 0.5)"));
}

int64_t count_blocks(const Weights &weights)
{
    int64_t count = 0;
    while (weights.has(gblocks(count + 1) + ".fc1.weight"))
        count++;
    return count;
}

Expression body(Net &net, int64_t count)
{
    Expression x = net.conv(Net::input, gblocks(0));
    for (int64_t i = 1; i <= count; i++)
        x = block(net, x, gblocks(i));
    x = net.activate(net.conv(x, gblocks(count + 1)), "mish");
    x = net.activate(net.conv(x, gblocks(count + 3)), "mish");
    return net.conv(x, gblocks(count + 5));
}

Expression shortcut(Net &net)
{
    Expression x = net.activate(net.conv(Net::input, "shortcut.block.0"), "mish");
    x = net.activate(net.conv(x, "shortcut.block.2"), "mish");
    return net.add(x, net.conv(Net::input, "shortcut.conv11"));
}

struct Enlarged {
    Expression picture;
    int64_t scale, channels;
};

Enlarged enlarged(Net &net, const Expression &x, int64_t channels)
{
    const Weights &weights = net.weights();
    if (weights.has("upsampler.init_pos")) {
        net.report("upsampler", "dysample");
        const int64_t scale = dysample_scale(net, "upsampler", sample_groups);
        return {.picture = dysample(net, x, "upsampler", scale),
                .scale = scale,
                .channels = weights.size("upsampler.end_conv.weight", 0)};
    }
    const bool has_ensemble = weights.has("upsampler.in_to_k.weight");
    net.report("upsampler", has_ensemble ? "gps" : "pixelshuffle");
    if (!has_ensemble) {
        const int64_t scale = net.shuffle_factor("upsampler.0", channels);
        return {.picture = net.pixel_shuffle(net.conv(x, "upsampler.0"), scale),
                .scale = scale,
                .channels = channels};
    }
    const int64_t scale = net.shuffle_factor("upsampler.in_to_k", ensemble * channels);
    const Expression all = net.conv(x, "upsampler.in_to_k");
    const Expression mean =
        net.let(concat("torch.mean(torch.reshape(", all, ", [", all, ".size(0), ", ensemble,
                       ", -1, ", all, ".size(2), ", all, ".size(3)]), [1])"));
    return {.picture = net.pixel_shuffle(mean, scale), .scale = scale, .channels = channels};
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"gblocks.0.weight", "gblocks.1.fc1.weight", "gblocks.1.conv.weight",
                            "shortcut.conv11.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, mosr.name);
    net.allow_missing("scope.bias");
    const int64_t count = count_blocks(weights);
    const int64_t channels = weights.size("gblocks.0.weight", 1);
    net.report("features", weights.size("gblocks.0.weight", 0));
    net.report("blocks", count);
    net.report("kernel", weights.size("gblocks.1.conv.weight", 2));
    const Expression x = net.let(concat(body(net, count), " + (", shortcut(net), " - 0.5)"));
    const Enlarged result = enlarged(net, x, channels);
    return net.finish(result.picture, result.scale, channels, result.channels);
}

} // namespace
} // namespace mosr_network

const Architecture mosr = {
    .name = "MoSR", .recognises = mosr_network::recognises, .build = mosr_network::build};

} // namespace engine_torch
