// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// AnimeSR: enlarges a frame by the one before, the one after, its result for the frame before and a
// state.  Three resolutions are computed side by side.
#include "architecture.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace animesr_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.1;
constexpr int64_t levels = 3, multiple = 4, colours = 3;
const std::string cell = "recurrent_cell.";

bool recognises(const Weights &weights)
{
    return weights.has("recurrent_cell.conv_s1_first.0.weight") ||
           weights.has("recurrent_cell.fusion.0.weight");
}

std::string blocks_of(int64_t level)
{
    return concat(cell, "body_s", int64_t{1} << level, "_first.");
}

Expression block(Net &net, const Expression &x, const std::string &name)
{
    const Expression first = net.activate(net.conv(x, name + ".conv1"), "relu");
    return net.add(x, net.conv(first, name + ".conv2"));
}

// Blocks of lower resolutions begin later, and all of them end together.
std::array<Expression, levels> pyramid(Net &net, const Expression &given)
{
    std::array<Expression, levels> x;
    std::array<int64_t, levels> counts = {};
    for (int64_t level = 0; level < levels; level++) {
        const auto place = static_cast<size_t>(level);
        counts[place] = net.weights().count(blocks_of(level));
        x[place] = net.leaky_relu(net.conv(level == 0 ? given : x[place - 1],
                                           concat(cell, "conv_s", int64_t{1} << level, "_first.0"),
                                           {.stride = level == 0 ? 1 : 2, .padding = 1}),
                                  slope);
    }
    if (counts[1] > counts[0] || counts[2] > counts[1])
        net.contradict("has more blocks at a lower resolution");
    for (int64_t i = 0; i < counts[0]; i++)
        for (size_t level = 0; level < levels; level++) {
            const int64_t number = i - counts[0] + counts[level];
            for (size_t lower = level + 1; lower < levels && number >= 0; lower++)
                if (i > counts[0] - counts[lower])
                    x[level] = net.add(
                        x[level], net.enlarge_bilinear(x[lower], int64_t{1} << (lower - level)));
            if (number >= 0)
                x[level] =
                    block(net, x[level], concat(blocks_of(static_cast<int64_t>(level)), number));
        }
    return x;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, animesr.name);
    const int64_t features = weights.size(cell + "conv_s1_first.0.weight", 0),
                  made = weights.size(cell + "fusion.2.weight", 0) - features;
    int64_t scale = 1;
    while (scale < 16 && colours * scale * scale < made)
        scale++;
    if (colours * scale * scale != made)
        net.contradict(concat("makes ", made, " channels besides ", features, " of the state"));
    net.report("features", features);
    net.report("blocks", concat(weights.count(blocks_of(0)), "/", weights.count(blocks_of(1)), "/",
                                weights.count(blocks_of(2))));
    net.take_frames(-1, 1, "repeat");
    const Expression x = net.pad_to_multiple(Net::input, multiple);
    const Expression frame = net.channels(x, colours, 2 * colours);
    const auto zeros = [&](int64_t channels, int64_t larger) {
        return concat(x, ".new_zeros([", x, ".size(0), ", channels, ", ", x, ".size(2) * ", larger,
                      ", ", x, ".size(3) * ", larger, "])");
    };
    const Expression before = net.state("result", 1, zeros(colours, scale));
    const Expression state = net.state("state", 2, zeros(features, 1));
    const auto at = pyramid(net, net.cat({x, net.pixel_unshuffle(before, scale), state}));
    const Expression all =
        net.cat({at[0], net.enlarge_bilinear(at[1], 2), net.enlarge_bilinear(at[2], 4)});
    const Expression first = net.leaky_relu(net.conv(all, cell + "fusion.0"), slope);
    const Expression both = net.conv(first, cell + "fusion.2");
    const Expression result = net.add(net.pixel_shuffle(net.channels(both, 0, made), scale),
                                      net.enlarge_bilinear(frame, scale));
    const Expression next = net.leaky_relu(net.channels(both, made, made + features), slope);
    const Expression cropped = net.crop(result, Net::input, scale);
    return net.finish(concat(cropped, ", ", result, ", ", next), scale, 3 * colours, colours);
}

} // namespace
} // namespace animesr_network

const Architecture animesr = {
    .name = "AnimeSR", .recognises = animesr_network::recognises, .build = animesr_network::build};

} // namespace engine_torch
