// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// RCAN: groups of residual blocks, each with attention over the channels.
//
// In the authors' names, body.G.body.B.body contains the layers of block B in group G, and
// body.G.body.COUNT ends the group.  In BasicSR's, these are body.G.residual_group.B.rcab and
// body.G.conv.
#include "architecture.h"
#include "residual_shell.h"

#include "base/compose.h"

namespace engine_torch
{
namespace rcan_network
{
namespace
{

using dnn_torch::concat;

struct GroupNames {
    std::string blocks, layers, attention, last;
    int64_t squeeze = 0, spread = 2; // indices within the attention
    int64_t count = 0;
};

GroupNames names_of(const Weights &weights, bool is_of_authors, int64_t group)
{
    GroupNames names;
    if (is_of_authors) {
        names = {.blocks = concat("body.", group, ".body."),
                 .layers = ".body.",
                 .attention = "3.conv_du.",
                 .last = "",
                 .squeeze = 0,
                 .spread = 2,
                 .count = 0};
        names.count = weights.count(names.blocks) - 1;
        names.last = concat(names.blocks, names.count);
    } else {
        names = {.blocks = concat("body.", group, ".residual_group."),
                 .layers = ".rcab.",
                 .attention = "3.attention.",
                 .last = concat("body.", group, ".conv"),
                 .squeeze = 1,
                 .spread = 3,
                 .count = 0};
        names.count = weights.count(names.blocks);
    }
    return names;
}

Expression block(Net &net, const Expression &before, const GroupNames &names, int64_t number)
{
    const std::string prefix = concat(names.blocks, number, names.layers);
    const Expression x =
        net.conv(net.activate(net.conv(before, prefix + "0"), "relu"), prefix + "2");
    const std::string attention = prefix + names.attention;
    Expression weight = net.conv(net.picture_mean(x), concat(attention, names.squeeze));
    weight = net.conv(net.activate(weight, "relu"), concat(attention, names.spread));
    return net.add(net.multiply(x, net.activate(weight, "sigmoid")), before);
}

bool recognises(const Weights &weights)
{
    return (weights.has_all({"tail.1.weight", "body.0.body.0.body.3.conv_du.0.weight"}) &&
            (weights.has("head.0.weight") || weights.has("head.1.weight"))) ||
           weights.has_all({"conv_first.weight", "conv_after_body.weight",
                            "body.0.residual_group.0.rcab.3.attention.1.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, rcan.name);
    const ResidualShell shell = residual_shell_of(weights);
    net.report("features", weights.size(shell.first + ".weight", 0));
    net.report("groups", shell.block_count);
    net.report("blocks", names_of(weights, shell.is_of_authors, 0).count);
    return finish_residual(net, shell, [&](const Expression &before, int64_t group) {
        const GroupNames names = names_of(weights, shell.is_of_authors, group);
        Expression x = before;
        for (int64_t i = 0; i < names.count; i++)
            x = block(net, x, names, i);
        return net.add(net.conv(x, names.last), before);
    });
}

} // namespace
} // namespace rcan_network

const Architecture rcan = {
    .name = "RCAN", .recognises = rcan_network::recognises, .build = rcan_network::build};

} // namespace engine_torch
