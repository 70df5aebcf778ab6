// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// EDSR: residual blocks of two convolutions.
#include "architecture.h"
#include "residual_shell.h"

#include "base/compose.h"

namespace engine_torch
{
namespace edsr_network
{
namespace
{

using dnn_torch::concat;

// Large published networks add a tenth of each block's result.  The weights do not show this.
constexpr int64_t features_of_large = 256;
constexpr double residual_of_large = 0.1;

bool recognises(const Weights &weights)
{
    return weights.has_all({"head.0.weight", "body.0.body.0.weight", "tail.1.weight"}) ||
           weights.has_all({"conv_first.weight", "body.0.conv1.weight", "conv_after_body.weight",
                            "conv_last.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, edsr.name);
    const ResidualShell shell = residual_shell_of(weights);
    const int64_t features = weights.size(shell.first + ".weight", 0);
    const double residual = features == features_of_large ? residual_of_large : 1;
    net.report("features", features);
    net.report("blocks", shell.block_count);
    return finish_residual(net, shell, [&](const Expression &before, int64_t i) {
        const std::string name = concat("body.", i, shell.is_of_authors ? ".body." : ".conv");
        Expression x =
            net.activate(net.conv(before, name + (shell.is_of_authors ? "0" : "1")), "relu");
        x = net.conv(x, name + "2");
        return residual == 1 ? net.add(before, x) : net.add_scaled(before, x, residual);
    });
}

} // namespace
} // namespace edsr_network

const Architecture edsr = {
    .name = "EDSR", .recognises = edsr_network::recognises, .build = edsr_network::build};

} // namespace engine_torch
