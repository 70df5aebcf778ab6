// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SCUNet: removes noise whose strength nobody knows, by a U-net of convolutions and attention.
#include "architecture.h"
#include "swin_conv.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace scunet_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t multiple = 64;
constexpr int64_t depths = 3; // how often the U-net halves
constexpr ConvOptions without_bias = {.has_bias = false},
                      halving = {.stride = 2, .padding = 0, .has_bias = false};

bool recognises(const Weights &weights)
{
    return weights.has_all({"m_head.0.weight", "m_tail.0.weight", "m_up1.0.weight",
                            "m_body.0.trans_block.msa.relative_position_params"});
}

// As published: the border is repeated.
constexpr char pad_function[] = R"(
def repeat_border(self, x, multiple: int):
    down = (multiple - x.size(2) % multiple) % multiple
    right = (multiple - x.size(3) % multiple) % multiple
    return torch.replication_pad2d(x, [0, right, 0, down])
)";

Blueprint build(const Weights &weights)
{
    Net net(weights, scunet.name);
    const int64_t channels = weights.size("m_head.0.weight", 1);
    net.report("features", weights.size("m_head.0.weight", 0));
    net.report("blocks", weights.count("m_body."));
    net.mark_nonlocal();
    net.function(pad_function);
    SwinConvBlocks blocks(net);
    Expression x = net.let(concat("self.repeat_border(", Net::input, ", ", multiple, ")"));
    std::array<Expression, depths + 1> before;
    before[0] = net.conv(x, "m_head.0", without_bias);
    x = before[0];
    for (int64_t depth = 0; depth < depths; depth++) {
        const std::string part = concat("m_down", depth + 1, ".");
        const int64_t count = weights.count(part) - 1;
        x = blocks.made(x, part, 0, count, depth);
        x = net.conv(x, concat(part, count), halving);
        before[static_cast<size_t>(depth + 1)] = x;
    }
    x = blocks.made(x, "m_body.", 0, weights.count("m_body."), depths);
    for (int64_t depth = depths; depth > 0; depth--) {
        const std::string part = concat("m_up", depth, ".");
        x = net.add(x, before[static_cast<size_t>(depth)]);
        net.allow_missing(part + "0.bias");
        x = net.conv_transpose(x, part + "0", 2, 0);
        x = blocks.made(x, part, 1, weights.count(part), depth - 1);
    }
    x = net.conv(net.add(x, before[0]), "m_tail.0", without_bias);
    return net.finish(net.crop(x, Net::input, 1), 1, channels, weights.size("m_tail.0.weight", 0));
}

} // namespace
} // namespace scunet_network

const Architecture scunet = {
    .name = "SCUNet", .recognises = scunet_network::recognises, .build = scunet_network::build};

} // namespace engine_torch
