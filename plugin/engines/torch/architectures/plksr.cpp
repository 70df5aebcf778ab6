// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// PLKSR and RealPLKSR: large kernels over some of the channels.
//
// "feats.0" and the last "feats" are convolutions; those between are blocks.  PLKSR's
// "channe_mixer" lacks a letter, which distinguishes it from RealPLKSR.
#include "architecture.h"
#include "dysample.h"

#include "base/compose.h"

namespace engine_torch
{
namespace plksr_network
{
namespace
{

using dnn_torch::concat;

// Constants of the published models.
constexpr int64_t norm_groups = 4;
constexpr double norm_epsilon = 1e-6;

std::string feats(int64_t i)
{
    return concat("feats.", i);
}

bool is_real(const Weights &weights)
{
    return weights.has("feats.1.channel_mixer.0.weight");
}

// Convolves the first channels and keeps the others.
Expression large_kernel(Net &net, const Expression &x, const std::string &name)
{
    const Weights &weights = net.weights();
    const bool is_crossed = weights.has(name + ".mn_conv.weight");
    const std::string first = name + (is_crossed ? ".mn_conv" : ".conv");
    const int64_t channels = weights.size(first + ".weight", 1);
    const Expression part = net.let(concat(x, "[:, :", channels, "]"));
    Expression convolved = net.conv(part, first);
    if (is_crossed) // two crossing strips and a square
        for (const char *other : {".nm_conv", ".nn_conv"})
            convolved = net.add(convolved, net.conv(part, name + other));
    return net.cat({convolved, net.let(concat(x, "[:, ", channels, ":]"))});
}

Expression block(Net &net, const Expression &before, const std::string &name)
{
    const Weights &weights = net.weights();
    const bool real = is_real(weights);
    const std::string mixer = name + (real ? ".channel_mixer." : ".channe_mixer.");
    Expression x = before;
    if (weights.has(name + ".layer_norm.weight"))
        x = net.channel_norm(x, name + ".layer_norm", norm_epsilon);
    x = net.activate(net.conv(x, mixer + "0"), real ? "mish" : "gelu");
    x = large_kernel(net, net.conv(x, mixer + "2"), name + ".lk");
    if (weights.has(name + ".attn.f.0.weight"))
        x = net.multiply(x, net.activate(net.conv(x, name + ".attn.f.0"), "sigmoid"));
    x = net.conv(x, name + ".refine");
    if (weights.has(name + ".norm.weight")) {
        net.mark_nonlocal();
        x = net.let(concat("torch.group_norm(", x, ", ", norm_groups, ", ",
                           net.weight(name + ".norm.weight"), ", ", net.weight(name + ".norm.bias"),
                           ", 1e-05)"));
    }
    return net.add(x, before);
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"feats.0.weight", "feats.1.refine.weight"}) &&
           weights.has_any("feats.1.lk.") &&
           (is_real(weights) || weights.has("feats.1.channe_mixer.0.weight"));
}

int64_t count_blocks(const Weights &weights)
{
    int64_t count = 0;
    while (weights.has(feats(count + 1) + ".refine.weight"))
        count++;
    return count;
}

// PLKSR's mixers differ in which layers have kernels of one pixel.
std::string mixer_name(const Weights &weights)
{
    const auto is_wide = [&](int layer) {
        return weights.size(concat("feats.1.channe_mixer.", layer, ".weight"), 2) > 1;
    };
    if (is_wide(0))
        return is_wide(2) ? "DCCM" : "CCM";
    return "ICCM";
}

void report(Net &net, int64_t count)
{
    const Weights &weights = net.weights();
    const bool is_crossed = weights.has("feats.1.lk.mn_conv.weight");
    net.report("variant", is_real(weights) ? "RealPLKSR" : "PLKSR");
    net.report("features", weights.size("feats.0.weight", 0));
    net.report("blocks", count);
    net.report(
        "kernel",
        weights.size(is_crossed ? "feats.1.lk.mn_conv.weight" : "feats.1.lk.conv.weight", 2));
    if (!is_real(weights))
        net.report("mixer", mixer_name(weights));
    else
        net.report("norm", weights.has("feats.1.layer_norm.weight") ? "layer" : "group");
    net.report("upsampler", weights.has("to_img.init_pos") ? "dysample" : "pixelshuffle");
}

Blueprint build(const Weights &weights)
{
    Net net(weights, plksr.name);
    net.allow_missing("scope.bias");
    if (weights.has_any("feats.1.lk.convs."))
        net.contradict("has sparse kernels, whose dilations the weights do not tell; export the "
                       "model with torch.jit.trace");
    const int64_t count = count_blocks(weights);
    report(net, count);
    const std::string last = feats(count + (is_real(weights) ? 2 : 1));
    const int64_t channels = weights.size("feats.0.weight", 1);
    const int64_t scale = net.shuffle_factor(last, channels);

    Expression x = net.conv(Net::input, "feats.0");
    for (int64_t i = 1; i <= count; i++)
        x = block(net, x, feats(i));
    x = net.conv(x, last);
    // Each channel of the picture is added to all channels that become its pixels.
    const Expression enlarged = net.enlarge_nearest(Net::input, scale);
    if (weights.has("to_img.init_pos"))
        x = dysample(net, net.add(x, net.pixel_unshuffle(enlarged, scale)), "to_img", scale);
    else
        x = net.add(net.pixel_shuffle(x, scale), enlarged);
    return net.finish(x, scale, channels, channels);
}

} // namespace
} // namespace plksr_network

const Architecture plksr = {
    .name = "PLKSR", .recognises = plksr_network::recognises, .build = plksr_network::build};

} // namespace engine_torch
