// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Compact: SRVGGNetCompact of Real-ESRGAN.  Convolutions in a row, enlarged at the end.
//
// "body.N" is a convolution where N is even, and the activation where it is odd: with weights it is
// a PReLU, else a ReLU (leaky ones are published under no name that tells them).
#include "architecture.h"

#include "base/compose.h"

#include <algorithm>
#include <cmath>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

std::string last_convolution(const Weights &weights)
{
    int64_t last = -1;
    for (int64_t i = 0; weights.has(concat("body.", i, ".weight")) ||
                        weights.has(concat("body.", i + 1, ".weight"));
         i++)
        if (weights.has(concat("body.", i, ".weight")))
            last = i;
    return concat("body.", last);
}

bool recognises(const Weights &weights)
{
    for (const auto &[name, weight] : weights.all())
        if (name.compare(0, 5, "body.") != 0 || std::count(name.begin(), name.end(), '.') != 2)
            return false;
    return weights.has_all({"body.0.weight", "body.2.weight"}) &&
           weights.at("body.0.weight").shape.size() == 4;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, compact.name);
    const std::string last = last_convolution(weights);
    const int64_t last_number = std::stoll(last.substr(5));
    const int64_t in_channels = weights.size("body.0.weight", 1);
    const int64_t out = weights.size(last + ".weight", 0);
    const auto scale = static_cast<int64_t>(
        std::lround(std::sqrt(static_cast<double>(out) / static_cast<double>(in_channels))));
    if (scale * scale * in_channels != out)
        throw WeightFault(concat("looks like ", compact.name, ", but ", last,
                                 " returns no whole enlargement of its input"));
    net.tell("features", weights.size("body.0.weight", 0));
    net.tell("convolutions", (last_number - 2) / 2);
    net.tell("activation", weights.has("body.1.weight") ? "prelu" : "relu");

    Expression x = Net::input;
    for (int64_t i = 0; i <= last_number; i += 2) {
        x = net.conv(x, concat("body.", i));
        if (i == last_number)
            break;
        const std::string activation = concat("body.", i + 1);
        x = weights.has(activation + ".weight") ? net.prelu(x, activation)
                                                : net.activate(x, "relu");
    }
    x = net.pixel_shuffle(x, scale);
    x = net.add(x, net.enlarge_nearest(Net::input, scale));
    return net.finish(x, scale, in_channels, in_channels);
}

} // namespace

const Architecture compact = {.name = "Compact", .recognises = recognises, .build = build};

} // namespace engine_torch
