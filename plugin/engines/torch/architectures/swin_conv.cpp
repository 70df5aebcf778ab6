// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "swin_conv.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace
{

constexpr int64_t window = 8;
constexpr int64_t depths = 3; // how often it halves
constexpr ConvOptions without_bias = {.has_bias = false},
                      halving = {.stride = 2, .padding = 0, .has_bias = false};

} // namespace

using dnn_torch::concat;

Expression SwinConvUNets::made(Expression x, const std::string &prefix)
{
    std::array<Expression, depths> halved;
    for (int64_t depth = 0; depth < depths; depth++) {
        const std::string part = concat(prefix, "m_down", depth + 1, ".");
        const int64_t count = net_.weights().count(part) - 1;
        x = blocks(x, part, 0, count, depth);
        x = net_.conv(x, concat(part, count), halving);
        halved[static_cast<size_t>(depth)] = x;
    }
    const std::string body = prefix + "m_body.";
    x = blocks(x, body, 0, net_.weights().count(body), depths);
    for (int64_t depth = depths - 1; depth >= 0; depth--) {
        const std::string part = concat(prefix, "m_up", depth + 1, ".");
        x = enlarge_(net_.add(x, halved[static_cast<size_t>(depth)]), part + "0");
        x = blocks(x, part, 1, net_.weights().count(part), depth);
    }
    return x;
}

Expression SwinConvUNets::blocks(Expression x, const std::string &part, int64_t first, int64_t end,
                                 int64_t depth)
{
    const bool shifts = depth < depths || shifts_deepest_;
    for (int64_t i = first; i < end; i++)
        x = block(x, concat(part, i, "."), depth, shifts && (i - first) % 2 == 1);
    return x;
}

Expression SwinConvUNets::block(const Expression &x, const std::string &prefix, int64_t depth,
                                bool is_shifted)
{
    const std::string convolutions = prefix + "conv_block.";
    const int64_t count = net_.weights().size(convolutions + "0.weight", 0),
                  all = net_.weights().size(prefix + "conv1_1.weight", 0);
    const Expression both = net_.conv(x, prefix + "conv1_1");
    const Expression near = net_.channels(both, 0, count);
    const Expression first =
        net_.activate(net_.conv(near, convolutions + "0", without_bias), "relu");
    const Expression convolved = net_.add(net_.conv(first, convolutions + "2", without_bias), near);
    Expression far = channels_last(net_, net_.channels(both, count, all));
    far = transformed(far, prefix + "trans_block.", is_shifted ? masks(far, depth) : nullptr);
    const Expression joined = net_.cat({convolved, channels_first(net_, far)});
    return net_.add(x, net_.conv(joined, prefix + "conv1_2"));
}

Expression SwinConvUNets::transformed(const Expression &x, const std::string &prefix,
                                      const ShiftMasks *masks)
{
    const Expression attended =
        net_.add(x, attention(net_.layer_norm(x, prefix + "ln1"), prefix + "msa.", masks));
    const Expression inner =
        net_.linear(net_.layer_norm(attended, prefix + "ln2"), prefix + "mlp.0");
    return net_.add(attended, net_.linear(net_.activate(inner, "gelu"), prefix + "mlp.2"));
}

Expression SwinConvUNets::attention(const Expression &x, const std::string &prefix,
                                    const ShiftMasks *masks)
{
    const std::string table = prefix + "relative_position_params";
    if (net_.weights().size(table, 1) != 2 * window - 1 ||
        net_.weights().size(table, 2) != 2 * window - 1)
        net_.contradict(concat(table, " is not for windows of ", window, " pixels"));
    if (positions_.empty())
        positions_ = relative_positions(net_, {.queries = window, .keys = window});
    Attention attention = {.heads = net_.weights().size(table, 0),
                           .channels = net_.weights().size(prefix + "linear.weight", 0),
                           .masks = masks};
    if (attention.heads < 1 || attention.channels % attention.heads != 0)
        net_.contradict(concat("its ", attention.heads, " heads cannot share ", attention.channels,
                               " channels"));
    const Expression rows = net_.let(concat(net_.weight(table), ".flatten(1).transpose(0, 1)"));
    attention.bias = position_bias_of(net_, rows, positions_);
    const Expression parts =
        net_.linear(to_windows(net_, x, window, masks), prefix + "embedding_layer");
    const auto [queries, keys, values] =
        thirds(net_, parts, prefix + "embedding_layer", attention.channels);
    const Expression made = attend(net_, attention, queries, keys, values);
    return from_windows(net_, net_.linear(made, prefix + "linear"), window, masks);
}

const ShiftMasks *SwinConvUNets::masks(const Expression &x, int64_t depth)
{
    const auto known = masks_.find(depth);
    if (known != masks_.end())
        return &known->second;
    return &masks_.emplace(depth, shift_masks(net_, x, window, window / 2)).first->second;
}

} // namespace engine_torch
