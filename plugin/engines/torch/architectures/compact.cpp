// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Compact: SRVGGNetCompact of Real-ESRGAN.  A chain of convolutions, then an enlargement.
//
// "body.N" is a convolution if N is even, an activation if N is odd: a PReLU if it has weights,
// otherwise a ReLU (models with leaky ones are not published under a recognisable name).
#include "architecture.h"

#include "base/compose.h"

#include <algorithm>

namespace engine_torch
{
namespace compact_network
{
namespace
{

using dnn_torch::concat;

// Convolutions and activations alternate, so the number of names bounds the index.
int64_t last_convolution(const Weights &weights)
{
    int64_t last = 0;
    while (weights.has_any(concat("body.", last + 2, ".")))
        last += 2;
    return last;
}

// Whether the name is "body.N.weight" or "body.N.bias" and, for an even N, a convolution's.
bool belongs(const std::string &name, const Weight &weight)
{
    if (name.compare(0, 5, "body.") != 0 || std::count(name.begin(), name.end(), '.') != 2)
        return false;
    const size_t end = name.rfind('.');
    const bool is_even = end > 5 && (name[end - 1] - '0') % 2 == 0;
    return name.substr(end) == ".bias" ? is_even : weight.shape.size() == (is_even ? 4U : 1U);
}

// Only the slopes of a PReLU are weights of one dimension that are not biases.
bool has_any_slope(const Weights &weights)
{
    return std::any_of(weights.all().begin(), weights.all().end(), [](const auto &named) {
        return named.second.shape.size() == 1 && named.first.find(".weight") != std::string::npos;
    });
}

// A few weights that do not belong are refused by name when the network is finished.
bool recognises(const Weights &weights)
{
    const auto strangers =
        std::count_if(weights.all().begin(), weights.all().end(),
                      [](const auto &named) { return !belongs(named.first, named.second); });
    return weights.has_all({"body.0.weight", "body.2.weight"}) &&
           static_cast<size_t>(strangers) * 4 <= weights.all().size();
}

Blueprint build(const Weights &weights)
{
    Net net(weights, compact.name);
    const int64_t last_number = last_convolution(weights);
    const int64_t in_channels = weights.size("body.0.weight", 1);
    const int64_t scale = net.shuffle_factor(concat("body.", last_number), in_channels);
    net.report("features", weights.size("body.0.weight", 0));
    net.report("convolutions", (last_number - 2) / 2);
    const bool has_slopes = has_any_slope(weights);
    net.report("activation", has_slopes ? "prelu" : "relu");

    Expression x = Net::input;
    for (int64_t i = 0; i <= last_number; i += 2) {
        x = net.conv(x, concat("body.", i));
        if (i == last_number)
            break;
        const std::string activation = concat("body.", i + 1);
        x = has_slopes ? net.prelu(x, activation) : net.activate(x, "relu");
    }
    x = net.pixel_shuffle(x, scale);
    x = net.add(x, net.enlarge_nearest(Net::input, scale));
    return net.finish(x, scale, in_channels, in_channels);
}

} // namespace
} // namespace compact_network

const Architecture compact = {
    .name = "Compact", .recognises = compact_network::recognises, .build = compact_network::build};

} // namespace engine_torch
