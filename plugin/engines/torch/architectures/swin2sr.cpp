// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Swin2SR: SwinIR with Swin V2's blocks.  Attention only compares directions, not lengths; a small
// network computes the bias from two pixels' offset; norms follow the layers.
#include "architecture.h"
#include "swin_family.h"

#include "base/compose.h"

#include <algorithm>
#include <cmath>

namespace engine_torch
{
namespace swin2sr_network
{
namespace
{

using dnn_torch::concat;

constexpr const char *first_block = "layers.0.residual_group.blocks.0.";

bool recognises(const Weights &weights)
{
    const std::string block = first_block;
    return weights.has("conv_first.weight") && weights.has(block + "attn.logit_scale") &&
           weights.has(block + "attn.cpb_mlp.0.weight") && weights.has(block + "mlp.fc1.weight");
}

// Both buffers of a block show the window size.
int64_t window_of(const Weights &weights)
{
    constexpr int64_t largest = 64;
    const std::string attention = std::string(first_block) + "attn.";
    int64_t window = 0;
    if (weights.has(attention + "relative_coords_table"))
        window = (weights.size(attention + "relative_coords_table", 1) + 1) / 2;
    else
        window = whole_root(weights.size(attention + "relative_position_index", 0)).value_or(0);
    if (window < 2 || window > largest)
        throw WeightFault(
            concat("has windows of ", window, " pixels; those that are known have 2 to ", largest));
    return window;
}

// Offsets as the small network takes them: on a logarithmic scale, from about -1 to 1.
Expression distances(Net &net, int64_t window)
{
    constexpr double farthest = 8;
    const auto scaled = [&](int64_t pixels) {
        const double part =
            farthest * static_cast<double>(pixels) / static_cast<double>(window - 1);
        return static_cast<float>(std::copysign(std::log2(std::abs(part) + 1), part) /
                                  std::log2(farthest));
    };
    std::vector<float> pairs;
    for (int64_t down = 1 - window; down < window; down++)
        for (int64_t right = 1 - window; right < window; right++)
            pairs.insert(pairs.end(), {scaled(down), scaled(right)});
    const int64_t sides = 2 * window - 1;
    return net.numbers({sides * sides, 2}, std::move(pairs));
}

constexpr char qkv_function[] = R"(
def biased_linear(self, x, weight, q_bias, v_bias):
    return torch.linear(x, weight, torch.cat([q_bias, torch.zeros_like(q_bias), v_bias]))
)";

class Layers
{
public:
    Layers(Net &net, int64_t window)
        : net_(net), window_(window),
          positions_(relative_positions(net, {.queries = window, .keys = window, .step = 1})),
          distances_(distances(net, window))
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
        x = net_.conv(x, prefix + "patch_embed.proj");
        return net_.add(channels_last(net_, x), input);
    }

private:
    Expression bias(const std::string &prefix) const
    {
        const Expression inner =
            net_.activate(net_.linear(distances_, prefix + "cpb_mlp.0"), "relu");
        const Expression table = net_.let(
            concat("torch.linear(", inner, ", ", net_.weight(prefix + "cpb_mlp.2.weight"), ")"));
        const Expression rows = position_bias_of(net_, table, positions_);
        return net_.let(concat("16.0 * torch.sigmoid(", rows, ")"));
    }

    Attention attention(const std::string &prefix, const ShiftMasks *masks) const
    {
        const Attention result = {.heads = net_.weights().size(prefix + "logit_scale", 0),
                                  .channels = net_.weights().size(prefix + "proj.weight", 0),
                                  .bias = bias(prefix),
                                  .masks = masks,
                                  .logit_scale = net_.weight(prefix + "logit_scale")};
        if (result.heads < 1 || result.channels < 1 || result.channels % result.heads != 0)
            net_.contradict(concat(prefix, "proj.weight has ", result.channels, " channels, which ",
                                   result.heads, " heads cannot share"));
        return result;
    }

    Expression qkv(const Expression &windows, const std::string &prefix) const
    {
        if (!net_.weights().has_any(prefix + "q_bias"))
            return net_.let(
                concat("torch.linear(", windows, ", ", net_.weight(prefix + "qkv.weight"), ")"));
        net_.function(qkv_function);
        return net_.let(
            concat("self.biased_linear(", windows, ", ", net_.weight(prefix + "qkv.weight"), ", ",
                   net_.weight(prefix + "q_bias"), ", ", net_.weight(prefix + "v_bias"), ")"));
    }

    Expression attended(const Expression &x, const std::string &prefix,
                        const ShiftMasks *masks) const
    {
        const Attention attention = this->attention(prefix, masks);
        const Expression windows = to_windows(net_, x, window_, masks);
        const auto parts = thirds(net_, qkv(windows, prefix), prefix + "qkv", attention.channels);
        const Expression result = attend(net_, attention, parts[0], parts[1], parts[2]);
        return from_windows(net_, net_.linear(result, prefix + "proj"), window_, masks);
    }

    Expression block(const Expression &x, const std::string &prefix, const ShiftMasks *masks) const
    {
        const Expression inner =
            net_.layer_norm(attended(x, prefix + "attn.", masks), prefix + "norm1");
        const Expression between = net_.add(x, inner);
        return net_.add(
            between, net_.layer_norm(perceptron(net_, between, prefix + "mlp."), prefix + "norm2"));
    }

    Net &net_;
    int64_t window_;
    Expression positions_, distances_;
};

Blueprint build(const Weights &weights)
{
    Net net(weights, swin2sr.name);
    for (const char *buffer : {".relative_position_index", ".relative_coords_table", ".attn_mask"})
        net.ignore_ending(buffer);
    const int64_t window = window_of(weights);
    report_layers(net, "residual_group.blocks.", {.name = "attn.logit_scale", .dimension = 0},
                  window);
    const Layers layers(net, window);
    return build_swin_family(
        net, {.window = window,
              .shifts = shifts_windows(weights),
              .range = range_of_window(window),
              .layer = [&](const Expression &x, const std::string &prefix,
                           const ShiftMasks *masks) { return layers.layer(x, prefix, masks); }});
}

} // namespace
} // namespace swin2sr_network

const Architecture swin2sr = {
    .name = "Swin2SR", .recognises = swin2sr_network::recognises, .build = swin2sr_network::build};

} // namespace engine_torch
