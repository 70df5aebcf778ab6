// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// VDSR: a chain of convolutions that computes the residual of a picture that was enlarged before.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace vdsr_network
{
namespace
{

using dnn_torch::concat;

// One published file has different names.
struct Layers {
    const char *first, *middle, *last;
};
constexpr Layers default_layers = {"input", "residual_layer.", "output"};
constexpr Layers parts = {"conv1.0", "trunk.", "conv2"};

bool has_layers(const Weights &weights, const Layers &layers)
{
    return weights.has(concat(layers.first, ".weight")) &&
           weights.has(concat(layers.middle, "0.conv.weight")) &&
           weights.has(concat(layers.last, ".weight"));
}

bool recognises(const Weights &weights)
{
    return has_layers(weights, default_layers) || has_layers(weights, parts);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, vdsr.name);
    net.allow_missing(".bias");
    const Layers &layers = has_layers(weights, parts) ? parts : default_layers;
    const std::string first = concat(layers.first, ".weight");
    const int64_t count = weights.count(layers.middle);
    const int64_t channels = weights.size(first, 1);
    net.report("features", weights.size(first, 0));
    net.report("convolutions", count + 2);
    Expression x = net.activate(net.conv(Net::input, layers.first), "relu");
    for (int64_t i = 0; i < count; i++)
        x = net.activate(net.conv(x, concat(layers.middle, i, ".conv")), "relu");
    x = net.add(Net::input, net.conv(x, layers.last));
    return net.finish(x, 1, channels, channels);
}

} // namespace
} // namespace vdsr_network

const Architecture vdsr = {
    .name = "VDSR", .recognises = vdsr_network::recognises, .build = vdsr_network::build};

} // namespace engine_torch
