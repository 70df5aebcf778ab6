// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SRCNN: three convolutions on a picture that was enlarged before.
#include "architecture.h"

#include "base/compose.h"

#include <algorithm>
#include <array>

namespace engine_torch
{
namespace srcnn_network
{
namespace
{

using dnn_torch::concat;

using Layers = std::array<const char *, 3>;
constexpr Layers default_layers = {"conv1", "conv2", "conv3"};
constexpr Layers parts = {"features.0", "map.0", "reconstruction"};

bool has_layers(const Weights &weights, const Layers &layers)
{
    return std::ranges::all_of(
        layers, [&](const char *layer) { return weights.has(concat(layer, ".weight")); });
}

bool recognises(const Weights &weights)
{
    if (has_layers(weights, parts))
        return true;
    for (const auto &[name, weight] : weights.all())
        if (name.compare(0, 4, "conv") != 0 || name.find('.') != 5)
            return false;
    return has_layers(weights, default_layers) && !weights.has_any("conv4") &&
           weights.at("conv1.weight").shape.size() == 4;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, srcnn.name);
    const Layers &layers = has_layers(weights, parts) ? parts : default_layers;
    const auto size_of = [&](const char *layer, size_t dimension) {
        return weights.size(concat(layer, ".weight"), dimension);
    };
    const int64_t channels = size_of(layers.front(), 1);
    std::string kernels;
    Expression x = Net::input;
    for (const char *layer : layers) {
        x = net.conv(kernels.empty() ? x : net.activate(x, "relu"), layer);
        dnn_torch::add_to_list(kernels, std::to_string(size_of(layer, 2)), "-");
    }
    const int64_t out_channels = size_of(layers.back(), 0);
    if (out_channels != channels)
        net.contradict(
            concat("returns ", dnn_torch::counted(out_channels, "channel"), " for ", channels));
    net.report("features", size_of(layers.front(), 0));
    net.report("kernels", kernels);
    return net.finish(x, 1, channels, channels);
}

} // namespace
} // namespace srcnn_network

const Architecture srcnn = {
    .name = "SRCNN", .recognises = srcnn_network::recognises, .build = srcnn_network::build};

} // namespace engine_torch
