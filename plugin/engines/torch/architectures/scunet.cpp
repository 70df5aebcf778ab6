// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SCUNet: removes noise whose strength nobody knows, by a U-net of convolutions and attention.
#include "architecture.h"
#include "swin_conv.h"

#include "base/compose.h"

namespace engine_torch
{
namespace scunet_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t multiple = 64;
constexpr ConvOptions without_bias = {.has_bias = false};

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
    SwinConvUNets unet(net, true, [&net](const Expression &x, const std::string &layer) {
        net.allow_missing(layer + ".bias");
        return net.conv_transpose(x, layer, 2, 0);
    });
    Expression x = net.let(concat("self.repeat_border(", Net::input, ", ", multiple, ")"));
    x = net.conv(x, "m_head.0", without_bias);
    x = net.conv(net.add(unet.made(x, ""), x), "m_tail.0", without_bias);
    return net.finish(net.crop(x, Net::input, 1), 1, channels, weights.size("m_tail.0.weight", 0));
}

} // namespace
} // namespace scunet_network

const Architecture scunet = {
    .name = "SCUNet", .recognises = scunet_network::recognises, .build = scunet_network::build};

} // namespace engine_torch
