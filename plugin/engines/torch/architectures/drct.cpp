// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// DRCT: five Swin transformer blocks per layer; each gets the results of all blocks before it.
#include "architecture.h"
#include "swin_family.h"

#include "base/compose.h"

namespace engine_torch
{
namespace drct_network
{
namespace
{

using dnn_torch::concat;

constexpr const char *table = "attn.relative_position_bias_table";
constexpr int64_t blocks_in_layer = 5;

bool recognises(const Weights &weights)
{
    return weights.has("conv_first.weight") && weights.has(concat("layers.0.swin1.", table)) &&
           weights.has_all({"layers.0.adjust1.weight", "layers.0.swin5.norm1.weight",
                            "layers.0.adjust5.weight"});
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
        // The same in all published networks.
        constexpr double slope = 0.2, weight_of_blocks = 0.2;
        std::vector<Expression> known = {input};
        for (int64_t i = 1; i <= blocks_in_layer; i++) {
            const Expression x = known.size() == 1 ? input : net_.cat(known, -1);
            const Expression result =
                block(x, concat(prefix, "swin", i, "."), i % 2 == 0 ? masks : nullptr);
            Expression adjusted =
                net_.conv(channels_first(net_, result), concat(prefix, "adjust", i));
            if (i < blocks_in_layer)
                adjusted = net_.leaky_relu(adjusted, slope);
            known.push_back(channels_last(net_, adjusted));
        }
        return net_.add_scaled(input, known.back(), weight_of_blocks);
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

void report(Net &net, int64_t window)
{
    std::string heads;
    for (int64_t i = 1; i <= blocks_in_layer; i++)
        dnn_torch::add_to_list(
            heads, std::to_string(net.weights().size(concat("layers.0.swin", i, ".", table), 1)),
            "/");
    net.report("features", net.weights().size("conv_first.weight", 0));
    net.report("growth", net.weights().size("layers.0.adjust1.weight", 0));
    net.report("layers", net.weights().count("layers."));
    net.report("heads", heads);
    net.report("window", window);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, drct.name);
    net.allow_missing("qkv.bias");
    net.ignore_ending(".relative_position_index");
    net.ignore_ending(".attn_mask");
    const int64_t window = window_of_table(weights, concat("layers.0.swin1.", table));
    report(net, window);
    const Layers layers(net, window);
    return build_swin_family(
        net, {.window = window,
              .shifts = shifts_windows(weights),
              .range = 1,
              .layer = [&](const Expression &x, const std::string &prefix,
                           const ShiftMasks *masks) { return layers.layer(x, prefix, masks); }});
}

} // namespace
} // namespace drct_network

const Architecture drct = {
    .name = "DRCT", .recognises = drct_network::recognises, .build = drct_network::build};

} // namespace engine_torch
