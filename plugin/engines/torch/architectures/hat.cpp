// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// HAT: Swin's attention in parallel with a convolution with channel attention.  Each layer ends
// with an attention in which the keys' windows overlap.
#include "architecture.h"
#include "swin_family.h"

#include "base/compose.h"

#include <utility>

namespace engine_torch
{
namespace hat_network
{
namespace
{

using dnn_torch::concat;

constexpr const char *first_group = "layers.0.residual_group.";
constexpr const char *table = "attn.relative_position_bias_table";
constexpr const char *overlap_table = "overlap_attn.relative_position_bias_table";

// Cuts B, H, W, C into overlapping windows of `size` pixels, one for each n x n.  Pixels outside of
// the picture are zero.
constexpr char overlapping_windows_function[] = R"(
def overlapping_windows(self, x, n: int, size: int):
    border = (size - n) // 2
    x = torch.constant_pad_nd(x, [0, 0, border, border, border, border])
    x = x.unfold(1, size, n).unfold(2, size, n)
    return x.permute([0, 1, 2, 4, 5, 3]).flatten(3, 4)
)";

bool recognises(const Weights &weights)
{
    const std::string group = first_group;
    return weights.has("conv_first.weight") && weights.has(group + overlap_table) &&
           weights.has(group + "blocks.0." + table) &&
           weights.has(group + "blocks.0.conv_block.cab.0.weight");
}

// Returns the side of the keys' windows: the table has a row for each offset between a pixel of
// theirs and one of the queries' windows.
int64_t overlapping_window(const Weights &weights, int64_t window)
{
    const std::string name = std::string(first_group) + overlap_table;
    const auto sides = whole_root(weights.size(name, 0));
    const int64_t size = sides ? *sides + 1 - window : 0;
    // Wider windows would overlap more than the neighbours.
    if (size < window || size > 3 * window || (size - window) % 2 != 0)
        throw WeightFault(concat("looks like HAT, but ", name, " has ", weights.size(name, 0),
                                 " rows, which fit no window around one of ", window, " pixels"));
    return size;
}

// The published code begins at a negative row, which PyTorch counts from the table's end.
Expression overlapping_positions(Net &net, int64_t window, int64_t size)
{
    const int64_t sides = window + size - 1, first = window - size + 1;
    expect_few_pairs(window * window, size * size);
    std::vector<int64_t> rows;
    rows.reserve(static_cast<size_t>(window * window * size * size));
    for (int64_t query = 0; query < window * window; query++)
        for (int64_t key = 0; key < size * size; key++) {
            const int64_t down = key / size - query / window + first;
            const int64_t right = key % size - query % window + first;
            const int64_t row = down * sides + right;
            rows.push_back(row < 0 ? row + sides * sides : row);
        }
    return net.indices({window * window, size * size}, std::move(rows));
}

class Layers
{
public:
    Layers(Net &net, int64_t window, int64_t size)
        : net_(net), window_(window), size_(size),
          positions_(relative_positions(net, {.queries = window, .keys = window, .step = 1})),
          overlapping_positions_(overlapping_positions(net, window, size))
    {
    }

    Expression layer(const Expression &input, const std::string &prefix,
                     const ShiftMasks *masks) const
    {
        Expression x = input;
        const std::string group = prefix + "residual_group.", blocks = group + "blocks.";
        for (int64_t i = 0, count = net_.weights().count(blocks); i < count; i++)
            x = block(x, concat(blocks, i, "."), i % 2 == 0 ? nullptr : masks);
        x = overlapping_block(x, group + "overlap_attn.");
        x = residual_convolution(net_, channels_first(net_, x), prefix + "conv");
        return net_.add(channels_last(net_, x), input);
    }

private:
    Expression with_perceptron(const Expression &x, const std::string &prefix) const
    {
        const Expression normalised = net_.layer_norm(x, prefix + "norm2");
        return net_.add(x, perceptron(net_, normalised, prefix + "mlp."));
    }

    // Two convolutions; each channel is multiplied by a factor computed from the channels' means.
    Expression channel_attention(const Expression &x, const std::string &prefix) const
    {
        Expression inner = net_.conv(channels_first(net_, x), prefix + "0");
        inner = net_.conv(net_.activate(inner, "gelu"), prefix + "2");
        net_.mark_nonlocal();
        const Expression mean = net_.let(concat("torch.adaptive_avg_pool2d(", inner, ", [1, 1])"));
        Expression factor = net_.activate(net_.conv(mean, prefix + "3.attention.1"), "relu");
        factor = net_.activate(net_.conv(factor, prefix + "3.attention.3"), "sigmoid");
        return channels_last(net_, net_.let(concat(inner, " * ", factor)));
    }

    Expression block(const Expression &x, const std::string &prefix, const ShiftMasks *masks) const
    {
        if (window_of_table(net_.weights(), prefix + table) != window_)
            throw WeightFault("looks like HAT, but its windows have several sizes");
        // The same in all published networks.
        constexpr double weight_of_convolution = 0.01;
        Attention attention = read_attention(net_, prefix + "attn.", positions_);
        attention.masks = masks;
        const Expression normalised = net_.layer_norm(x, prefix + "norm1");
        const Expression convolved = channel_attention(normalised, prefix + "conv_block.cab.");
        const Expression attended =
            window_attention(net_, normalised, prefix + "attn.", attention, window_);
        return with_perceptron(
            net_.add_scaled(net_.add(x, attended), convolved, weight_of_convolution), prefix);
    }

    Expression overlapping_block(const Expression &x, const std::string &prefix) const
    {
        const Attention attention = read_attention(net_, prefix, overlapping_positions_);
        const Expression all = net_.linear(net_.layer_norm(x, prefix + "norm1"), prefix + "qkv");
        const auto parts = thirds(net_, all, prefix + "qkv", attention.channels);
        net_.function(overlapping_windows_function);
        const auto overlapping = [&](const Expression &part) {
            return net_.let(
                concat("self.overlapping_windows(", part, ", ", window_, ", ", size_, ")"));
        };
        const Expression queries = to_windows(net_, parts[0], window_, nullptr);
        const Expression keys = overlapping(parts[1]), values = overlapping(parts[2]);
        const Expression windows = attend(net_, attention, queries, keys, values);
        const Expression whole = from_windows(net_, windows, window_, nullptr);
        return with_perceptron(net_.add(net_.linear(whole, prefix + "proj"), x), prefix);
    }

    Net &net_;
    int64_t window_, size_;
    Expression positions_, overlapping_positions_;
};

Blueprint build(const Weights &weights)
{
    Net net(weights, hat.name);
    net.allow_missing("qkv.bias");
    net.ignore("relative_position_index_SA");
    net.ignore("relative_position_index_OCA");
    const std::string first_block = concat(first_group, "blocks.0.");
    const int64_t window = window_of_table(weights, first_block + table);
    const int64_t size = overlapping_window(weights, window);
    report_layers(net, "residual_group.blocks.", {.name = table}, window);
    net.report("overlapping", size);
    net.report("compressed", weights.size(first_block + "conv_block.cab.0.weight", 0));
    net.report("squeezed", weights.size(first_block + "conv_block.cab.3.attention.1.weight", 0));
    const Layers layers(net, window, size);
    return build_swin_family(
        net, {.window = window,
              .shifts = true,
              .range = 1,
              .layer = [&](const Expression &x, const std::string &prefix,
                           const ShiftMasks *masks) { return layers.layer(x, prefix, masks); }});
}

} // namespace
} // namespace hat_network

const Architecture hat = {
    .name = "HAT", .recognises = hat_network::recognises, .build = hat_network::build};

} // namespace engine_torch
