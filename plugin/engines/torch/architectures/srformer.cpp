// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SRFormer: attention in large windows with a key for each 2 x 2 pixels.  Keys have a quarter of
// the channels; those of four pixels variant one key.
//
// The published masks of shifted windows give all keys of a window the same number, which a softmax
// ignores.  So there are no masks here: the picture's edges attend to the opposite edges.
#include "architecture.h"
#include "swin_family.h"

#include "base/compose.h"

namespace engine_torch
{
namespace srformer_network
{
namespace
{

using dnn_torch::concat;

constexpr const char *first_block = "layers.0.residual_group.blocks.0.";
constexpr const char *table = "attn.relative_position_bias_table";

// Turns windows of tokens with 2 * c channels into keys and values: 2, windows with a quarter of
// the tokens and 4 * c channels.
constexpr char permuted_function[] = R"(
def permuted(self, x, n: int):
    size = [x.size(0), x.size(1), x.size(2), n, 2, n, 2, 2, x.size(4) // 2]
    x = x.reshape(size).permute([7, 0, 1, 2, 3, 5, 4, 6, 8])
    return x.flatten(6, 8).flatten(4, 5)
)";

bool recognises(const Weights &weights)
{
    const std::string block = first_block;
    return weights.has("conv_first.weight") && weights.has(block + table) &&
           weights.has(block + "attn.q.weight") && weights.has(block + "attn.kv.weight") &&
           weights.has(block + "mlp.dwconv.depthwise_conv.0.weight");
}

class Layers
{
public:
    Layers(Net &net, int64_t keys)
        : net_(net), keys_(keys),
          positions_(relative_positions(net, {.queries = 2 * keys, .keys = keys, .step = 2}))
    {
    }

    Expression layer(const Expression &input, const std::string &prefix, int64_t shift) const
    {
        Expression x = input;
        const std::string blocks = prefix + "residual_group.blocks.";
        for (int64_t i = 0, count = net_.weights().count(blocks); i < count; i++)
            x = block(x, concat(blocks, i, "."), i % 2 == 0 ? 0 : shift);
        x = residual_convolution(net_, channels_first(net_, x), prefix + "conv");
        return net_.add(channels_last(net_, x), input);
    }

private:
    Expression block(const Expression &x, const std::string &prefix, int64_t shift) const
    {
        if (window_of_table(net_.weights(), prefix + table) != keys_)
            throw WeightFault("looks like SRFormer, but its windows have several sizes");
        const Expression normalised = net_.layer_norm(x, prefix + "norm1");
        const Expression attended =
            net_.add(x, permuted_attention(normalised, prefix + "attn.", shift));
        return net_.add(
            attended,
            perceptron_of_neighbours(net_.layer_norm(attended, prefix + "norm2"), prefix + "mlp."));
    }

    Expression permuted_attention(const Expression &x, const std::string &prefix,
                                  int64_t shift) const
    {
        const Attention attention = read_attention(net_, prefix, positions_);
        if (attention.channels % 4 != 0 ||
            net_.weights().size(prefix + "kv.weight", 0) != attention.channels / 2)
            throw WeightFault(concat("looks like SRFormer, but ", prefix,
                                     "kv.weight does not make half as many channels as ", prefix,
                                     "proj.weight"));
        net_.function(permuted_function);
        const Expression windows = to_windows(net_, rolled(net_, x, -shift), 2 * keys_, nullptr);
        const Expression both = net_.let(
            concat("self.permuted(", net_.linear(windows, prefix + "kv"), ", ", keys_, ")"));
        const Expression queries = net_.linear(windows, prefix + "q");
        const Expression keys = net_.let(both + "[0]"), values = net_.let(both + "[1]");
        const Expression result =
            net_.linear(attend(net_, attention, queries, keys, values), prefix + "proj");
        return rolled(net_, from_windows(net_, result, 2 * keys_, nullptr), shift);
    }

    Expression perceptron_of_neighbours(const Expression &x, const std::string &prefix) const
    {
        const Expression inner = net_.activate(net_.linear(x, prefix + "fc1"), "gelu");
        const std::string name = prefix + "dwconv.depthwise_conv.0";
        const ConvOptions each_channel = {.stride = 1,
                                          .dilation = 1,
                                          .groups = net_.weights().size(name + ".weight", 0),
                                          .padding = -1};
        const Expression neighbours =
            net_.activate(net_.conv(channels_first(net_, inner), name, each_channel), "gelu");
        return net_.linear(net_.add(inner, channels_last(net_, neighbours)), prefix + "fc2");
    }

    Net &net_;
    int64_t keys_;
    Expression positions_;
};

Blueprint build(const Weights &weights)
{
    Net net(weights, srformer.name);
    net.allow_missing("qkv.bias");
    net.ignore_ending(".aligned_relative_position_index");
    net.ignore_ending(".attn_mask");
    const int64_t keys = window_of_table(weights, std::string(first_block) + table);
    report_layers(net, "residual_group.blocks.", {.name = table}, 2 * keys);
    const Layers layers(net, keys);
    const int64_t shift = shifts_windows(weights) ? keys : 0;
    if (shift > 0)
        net.mark_nonlocal();
    return build_swin_family(
        net, {.window = 2 * keys,
              .shifts = false,
              .range = 1,
              .layer = [&](const Expression &x, const std::string &prefix, const ShiftMasks *) {
                  return layers.layer(x, prefix, shift);
              }});
}

} // namespace
} // namespace srformer_network

const Architecture srformer = {.name = "SRFormer",
                               .recognises = srformer_network::recognises,
                               .build = srformer_network::build};

} // namespace engine_torch
