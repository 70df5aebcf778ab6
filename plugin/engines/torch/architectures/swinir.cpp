// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SwinIR: residual layers of Swin transformer blocks, each with a convolution.
#include "architecture.h"
#include "swin_family.h"

#include "base/compose.h"

namespace engine_torch
{
namespace swinir_network
{
namespace
{

using dnn_torch::concat;

constexpr const char *first_block = "layers.0.residual_group.blocks.0.";
constexpr const char *table = "attn.relative_position_bias_table";

bool recognises(const Weights &weights)
{
    const std::string block = first_block;
    return (weights.has("conv_first.weight") || weights.has("conv_first.1.weight")) &&
           weights.has(block + table) && weights.has(block + "attn.qkv.weight") &&
           weights.has(block + "mlp.fc1.weight") && !weights.has_any(block + "conv_block.");
}

class Layers
{
public:
    Layers(Net &net, int64_t window)
        : net_(net), window_(window),
          positions_(relative_positions(net, {.queries = window, .keys = window, .step = 1}))
    {
    }

    Expression layer(const Expression &input, const std::string &prefix,
                     const ShiftMasks *masks) const
    {
        Expression x = input;
        const std::string blocks = prefix + "residual_group.blocks.";
        for (int64_t i = 0, count = net_.weights().count(blocks); i < count; i++)
            x = block(x, concat(blocks, i, "."), i % 2 == 0 ? nullptr : masks);
        x = residual_convolution(net_, channels_first(net_, x), prefix + "conv");
        return net_.add(channels_last(net_, x), input);
    }

private:
    Expression block(const Expression &x, const std::string &prefix, const ShiftMasks *masks) const
    {
        return swin_block(net_, x, prefix, {.window = window_, .positions = positions_}, masks);
    }

    Net &net_;
    int64_t window_;
    Expression positions_;
};

Blueprint build(const Weights &weights)
{
    Net net(weights, swinir.name);
    net.allow_missing("qkv.bias");
    net.ignore_ending(".relative_position_index");
    net.ignore_ending(".attn_mask");
    const int64_t window = window_of_table(weights, std::string(first_block) + table);
    report_layers(net, "residual_group.blocks.", {.name = table}, window);
    const Layers layers(net, window);
    return build_swin_family(
        net, {.window = window,
              .shifts = shifts_windows(weights),
              .range = range_of_window(window),
              .layer = [&](const Expression &x, const std::string &prefix,
                           const ShiftMasks *masks) { return layers.layer(x, prefix, masks); }});
}

} // namespace
} // namespace swinir_network

const Architecture swinir = {
    .name = "SwinIR", .recognises = swinir_network::recognises, .build = swinir_network::build};

} // namespace engine_torch
