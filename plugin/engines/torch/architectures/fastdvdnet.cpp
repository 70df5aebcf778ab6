// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// FastDVDnet: denoises a frame by five.  A small U-net looks at three frames with a map of the
// noise's strength; it runs on each three of the five, and a second one on its three results.
#include "architecture.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace fastdvdnet_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t frames = 5, frames_of_block = 3, multiple = 4;
// The value of the authors' tests, and the default of forward().
constexpr char noise_argument[] = "sigma: float = 0.09803921568627451"; // 25 / 255

bool recognises(const Weights &weights)
{
    const auto has_either = [&](const char *layer) {
        return weights.has(concat("temp1.", layer, ".weight")) ||
               weights.has(concat("temp2.", layer, ".weight"));
    };
    return has_either("inc.convblock.0") && has_either("outc.convblock.3");
}

Expression normalised(Net &net, const Expression &x, const std::string &layers, int64_t place,
                      const ConvOptions &options = {})
{
    const std::string conv = concat(layers, ".", place);
    const Expression made = net.conv(x, conv, options);
    return net.activate(net.batch_norm(made, concat(layers, ".", place + 1), conv), "relu");
}

// Two convolutions.
Expression pair(Net &net, const Expression &x, const std::string &block)
{
    const std::string layers = block + ".convblock";
    return normalised(net, normalised(net, x, layers, 0), layers, 3);
}

Expression smaller(Net &net, const Expression &x, const std::string &block)
{
    const std::string layers = block + ".convblock";
    const Expression half = normalised(net, x, layers, 0, {.stride = 2, .padding = 1});
    return pair(net, half, layers + ".3");
}

Expression larger(Net &net, const Expression &x, const std::string &block)
{
    const std::string layers = block + ".convblock";
    const Expression made = net.conv(pair(net, x, layers + ".0"), layers + ".1");
    return net.pixel_shuffle(made, 2);
}

// Returns the frame in the middle of three, one behind the other in the channels, without its
// noise.
Expression denoised(Net &net, const Expression &three, int64_t channels, const std::string &block)
{
    const std::string inc = block + ".inc.convblock", outc = block + ".outc.convblock";
    const Expression noise = net.let(concat("torch.full_like(", three, "[:, :1], sigma)"));
    std::vector<Expression> parts;
    for (int64_t i = 0; i < frames_of_block; i++) {
        parts.push_back(net.channels(three, channels * i, channels * (i + 1)));
        parts.push_back(noise);
    }
    const Expression all = net.cat(parts);
    const Expression first = normalised(net, all, inc, 0, {.groups = frames_of_block});
    const Expression whole = normalised(net, first, inc, 3);
    const Expression half = smaller(net, whole, block + ".downc0");
    const Expression quarter = smaller(net, half, block + ".downc1");
    const Expression below = net.add(half, larger(net, quarter, block + ".upc2"));
    const Expression above = net.add(whole, larger(net, below, block + ".upc1"));
    const Expression found = net.conv(normalised(net, above, outc, 0), outc + ".3");
    return net.let(concat(parts[2], " - ", found));
}

Blueprint build(const Weights &weights)
{
    Net net(weights, fastdvdnet.name);
    net.allow_missing_biases();
    net.argument(noise_argument);
    const int64_t channels = weights.size("temp2.outc.convblock.3.weight", 0);
    if (channels != 1 && channels != 3)
        net.contradict(concat("returns ", channels, " channels"));
    net.report("features", weights.size("temp1.inc.convblock.3.weight", 0));
    net.report("frames", frames);
    const Expression x = net.pad_to_multiple(Net::input, multiple);
    const auto of_pictures = [&](const Expression &of, int64_t count) {
        return net.let(concat(of, ".reshape([-1, ", count, ", ", x, ".size(2), ", x, ".size(3)])"));
    };
    const Expression followers = net.followers(x, channels);
    const Expression threes = net.distinct_threes(of_pictures(x, channels), followers, frames);
    const Expression between =
        net.of_each_window(denoised(net, threes, channels, "temp1"), followers, frames_of_block);
    const Expression made =
        denoised(net, of_pictures(between, frames_of_block * channels), channels, "temp2");
    net.take_frames(-2, 2);
    return net.finish(net.crop(made, Net::input, 1), 1, frames * channels, channels);
}

} // namespace
} // namespace fastdvdnet_network

const Architecture fastdvdnet = {.name = "FastDVDnet",
                                 .recognises = fastdvdnet_network::recognises,
                                 .build = fastdvdnet_network::build};

} // namespace engine_torch
