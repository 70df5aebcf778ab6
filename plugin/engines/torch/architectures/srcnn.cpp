// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SRCNN: three convolutions over a picture that was enlarged before.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

bool recognises(const Weights &weights)
{
    for (const auto &[name, weight] : weights.all())
        if (name.compare(0, 4, "conv") != 0 || name.find('.') != 5)
            return false;
    return weights.has_all({"conv1.weight", "conv2.weight", "conv3.weight"}) &&
           !weights.has_any("conv4") && weights.at("conv1.weight").shape.size() == 4;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, srcnn.name);
    const int64_t channels = weights.size("conv1.weight", 1);
    std::string kernels;
    Expression x = Net::input;
    for (const char *layer : {"conv1", "conv2", "conv3"}) {
        x = net.conv(kernels.empty() ? x : net.activate(x, "relu"), layer);
        dnn_torch::add_to_list(kernels, std::to_string(weights.size(concat(layer, ".weight"), 2)),
                               "-");
    }
    const int64_t made = weights.size("conv3.weight", 0);
    if (made != channels)
        net.contradict(concat("returns ", made, " channels for ", channels));
    net.tell("features", weights.size("conv1.weight", 0));
    net.tell("kernels", kernels);
    return net.finish(x, 1, channels, channels);
}

} // namespace

const Architecture srcnn = {.name = "SRCNN", .recognises = recognises, .build = build};

} // namespace engine_torch
