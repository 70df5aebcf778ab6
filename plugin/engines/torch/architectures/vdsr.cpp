// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// VDSR: convolutions in a row over a picture that was enlarged before.  They return what is missing
// in it.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

bool recognises(const Weights &weights)
{
    return weights.has_all({"input.weight", "residual_layer.0.conv.weight", "output.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, vdsr.name);
    net.may_lack(".bias");
    const int64_t count = weights.count("residual_layer.");
    const int64_t channels = weights.size("input.weight", 1);
    net.tell("features", weights.size("input.weight", 0));
    net.tell("convolutions", count + 2);
    Expression x = net.activate(net.conv(Net::input, "input"), "relu");
    for (int64_t i = 0; i < count; i++)
        x = net.activate(net.conv(x, concat("residual_layer.", i, ".conv")), "relu");
    x = net.add(Net::input, net.conv(x, "output"));
    return net.finish(x, 1, channels, channels);
}

} // namespace

const Architecture vdsr = {.name = "VDSR", .recognises = recognises, .build = build};

} // namespace engine_torch
