// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "windows.h"

#include "base/compose.h"

#include <cmath>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// Published windows have up to 32 pixels.  All pairs of a larger one would exhaust memory.
constexpr int64_t largest_window = 64;

constexpr char to_windows_function[] = R"(
def to_windows(self, x, n: int):
    x = x.reshape([x.size(0), x.size(1) // n, n, x.size(2) // n, n, x.size(3)])
    return x.permute([0, 1, 3, 2, 4, 5]).flatten(3, 4)
)";

constexpr char from_windows_function[] = R"(
def from_windows(self, x, n: int):
    x = x.reshape([x.size(0), x.size(1), x.size(2), n, n, x.size(4)])
    return x.permute([0, 1, 3, 2, 4, 5]).flatten(1, 2).flatten(2, 3)
)";

constexpr char split_heads_function[] = R"(
def split_heads(self, x, heads: int):
    size = [x.size(0), x.size(1), x.size(2), x.size(3), heads, x.size(4) // heads]
    return x.reshape(size).transpose(3, 4)
)";

constexpr char scores_function[] = R"(
def scores(self, queries, keys, bias, heads: int, scale: float):
    queries = self.split_heads(queries, heads) * scale
    keys = self.split_heads(keys, heads).transpose(-2, -1)
    return torch.matmul(queries, keys) + bias
)";

// As published: no head's factor exceeds 100.
constexpr char cosine_function[] = R"(
def cosine_scores(self, queries, keys, bias, heads: int, logit_scale):
    queries = self.split_heads(queries, heads)
    keys = self.split_heads(keys, heads)
    queries = queries / torch.clamp_min(torch.norm(queries, 2, [-1], True), 1e-12)
    keys = keys / torch.clamp_min(torch.norm(keys, 2, [-1], True), 1e-12)
    scale = torch.exp(torch.clamp_max(logit_scale, 4.605170185988092))
    return torch.matmul(queries, keys.transpose(-2, -1)) * scale + bias
)";

constexpr char attend_function[] = R"(
def attend(self, scores, values, heads: int):
    x = torch.matmul(torch.softmax(scores, -1), self.split_heads(values, heads))
    return x.transpose(3, 4).flatten(4)
)";

constexpr char position_bias_function[] = R"(
def position_bias(self, table, rows):
    bias = torch.index_select(table, 0, rows.reshape([-1]))
    return bias.reshape([rows.size(0), rows.size(1), table.size(1)]).permute([2, 0, 1])
)";

// Zeros for all windows of a row except the last.
constexpr char shift_mask_function[] = R"(
def shift_mask(self, last, count: int):
    others = last.new_zeros([count - 1, last.size(0), last.size(1)])
    return torch.cat([others, last.unsqueeze(0)]).unsqueeze(1)
)";

// The mask of the last window in one direction.  Adjacent pixels in this direction are `stride`
// tokens apart; the last `shift` pixels are from the opposite side of the picture.
Expression last_mask(Net &net, int64_t window, int64_t shift, int64_t stride)
{
    // As published: a softmax makes it negligible.
    constexpr float apart = -100;
    const int64_t tokens = window * window;
    const auto came_round = [&](int64_t token) {
        return token / stride % window >= window - shift;
    };
    std::vector<float> mask;
    mask.reserve(static_cast<size_t>(tokens * tokens));
    for (int64_t query = 0; query < tokens; query++)
        for (int64_t key = 0; key < tokens; key++)
            mask.push_back(came_round(query) == came_round(key) ? 0.0F : apart);
    return net.numbers({tokens, tokens}, std::move(mask));
}

Expression compared(Net &net, const Attention &attention, const Expression &queries,
                    const Expression &keys)
{
    const bool is_cosine = !attention.logit_scale.empty();
    net.function(is_cosine ? cosine_function : scores_function);
    const double scale = 1 / std::sqrt(static_cast<double>(attention.channels / attention.heads));
    return net.let(concat(is_cosine ? "self.cosine_scores(" : "self.scores(", queries, ", ", keys,
                          ", ", attention.bias, ", ", attention.heads, ", ",
                          is_cosine ? attention.logit_scale : literal(scale), ")"));
}

} // namespace

std::optional<int64_t> whole_root(int64_t square)
{
    if (square < 0)
        return std::nullopt;
    const int64_t root = std::llround(std::sqrt(static_cast<double>(square)));
    // Beyond that, a double cannot represent every integer.
    constexpr int64_t largest = int64_t{1} << 26;
    if (root > largest || root * root != square)
        return std::nullopt;
    return root;
}

// ---- positions ----------------------------------------------------------------------

int64_t window_of_table(const Weights &weights, const std::string &table)
{
    const int64_t rows = weights.size(table, 0);
    const auto sides = whole_root(rows);
    if (!sides || *sides % 2 == 0)
        throw WeightFault(
            concat("has ", table, " of ", rows, " rows, which fits no square window"));
    const int64_t window = (*sides + 1) / 2;
    if (window > largest_window)
        throw WeightFault(concat("has ", table, " for windows of ", window,
                                 " pixels; the largest that are known have ", largest_window));
    return window;
}

void expect_few_pairs(int64_t queries, int64_t keys)
{
    constexpr int64_t most = largest_window * largest_window * largest_window * largest_window;
    if (queries * keys > most)
        throw WeightFault(concat("has windows of ", queries, " pixels that look at ", keys,
                                 ", which are larger than any that is known"));
}

Expression relative_positions(Net &net, const Positions &positions)
{
    const int64_t queries = positions.queries, keys = positions.keys, sides = 2 * keys - 1;
    expect_few_pairs(queries * queries, keys * keys);
    std::vector<int64_t> rows;
    rows.reserve(static_cast<size_t>(queries * queries * keys * keys));
    for (int64_t query = 0; query < queries * queries; query++)
        for (int64_t key = 0; key < keys * keys; key++) {
            const int64_t down = query / queries / positions.step - key / keys + keys - 1;
            const int64_t right = query % queries / positions.step - key % keys + keys - 1;
            rows.push_back(down * sides + right);
        }
    return net.indices({queries * queries, keys * keys}, std::move(rows));
}

Expression position_bias(Net &net, const std::string &table, const Expression &positions)
{
    return position_bias_of(net, net.weight(table), positions);
}

Expression position_bias_of(Net &net, const Expression &table, const Expression &positions)
{
    net.function(position_bias_function);
    return net.let(concat("self.position_bias(", table, ", ", positions, ")"));
}

ShiftMasks shift_masks(Net &net, const Expression &x, int64_t window, int64_t shift)
{
    net.function(shift_mask_function);
    const auto mask = [&](const Expression &last, int64_t dimension) {
        return net.let(
            concat("self.shift_mask(", last, ", ", x, ".size(", dimension, ") // ", window, ")"));
    };
    ShiftMasks masks = {.shift = shift, .down = "", .right = ""};
    // rows of windows, 1, heads, queries, keys
    masks.down = net.let(concat(mask(last_mask(net, window, shift, window), 1), ".unsqueeze(1)"));
    masks.right = mask(last_mask(net, window, shift, 1), 2);
    return masks;
}

// ---- attention ----------------------------------------------------------------------

Attention read_attention(Net &net, const std::string &prefix, const Expression &positions)
{
    const std::string table = prefix + "relative_position_bias_table";
    Attention attention;
    attention.heads = net.weights().size(table, 1);
    attention.channels = net.weights().size(prefix + "proj.weight", 0);
    if (attention.heads < 1 || attention.channels < 1 || attention.channels % attention.heads != 0)
        throw WeightFault(concat("has ", prefix, "proj.weight with ", attention.channels,
                                 " channels, which its ", attention.heads, " heads cannot share"));
    attention.bias = position_bias(net, table, positions);
    return attention;
}

Expression attend(Net &net, const Attention &attention, const Expression &queries,
                  const Expression &keys, const Expression &values)
{
    net.function(split_heads_function);
    net.function(attend_function);
    Expression scores = compared(net, attention, queries, keys);
    if (attention.masks)
        scores =
            net.let(concat(scores, " + ", attention.masks->down, " + ", attention.masks->right));
    return net.let(concat("self.attend(", scores, ", ", values, ", ", attention.heads, ")"));
}

Expression rolled(Net &net, const Expression &x, int64_t by)
{
    return by == 0 ? x : net.let(concat("torch.roll(", x, ", [", by, ", ", by, "], [1, 2])"));
}

Expression to_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks)
{
    net.function(to_windows_function);
    const Expression from = rolled(net, x, masks ? -masks->shift : 0);
    return net.let(concat("self.to_windows(", from, ", ", window, ")"));
}

Expression from_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks)
{
    net.function(from_windows_function);
    const Expression whole = net.let(concat("self.from_windows(", x, ", ", window, ")"));
    return rolled(net, whole, masks ? masks->shift : 0);
}

std::array<Expression, 3> thirds(Net &net, const Expression &x, const std::string &name,
                                 int64_t channels)
{
    if (net.weights().size(name + ".weight", 0) / 3 != channels)
        throw WeightFault(
            concat("has ", name, ".weight, which does not make 3 times ", channels, " channels"));
    const auto part = [&](int64_t number) {
        return net.let(
            concat("torch.narrow(", x, ", -1, ", number * channels, ", ", channels, ")"));
    };
    return {part(0), part(1), part(2)};
}

Expression window_attention(Net &net, const Expression &x, const std::string &prefix,
                            const Attention &attention, int64_t window)
{
    const Expression windows = to_windows(net, x, window, attention.masks);
    const auto parts =
        thirds(net, net.linear(windows, prefix + "qkv"), prefix + "qkv", attention.channels);
    const Expression result = attend(net, attention, parts[0], parts[1], parts[2]);
    return from_windows(net, net.linear(result, prefix + "proj"), window, attention.masks);
}

Expression perceptron(Net &net, const Expression &x, const std::string &prefix)
{
    const Expression inner = net.activate(net.linear(x, prefix + "fc1"), "gelu");
    return net.linear(inner, prefix + "fc2");
}

Expression swin_block(Net &net, const Expression &x, const std::string &prefix,
                      const Windows &windows, const ShiftMasks *masks)
{
    const std::string table = prefix + "attn.relative_position_bias_table";
    if (window_of_table(net.weights(), table) != windows.window)
        throw WeightFault(concat("has ", table, " for windows of another size than ",
                                 windows.window, " pixels, which the first block has"));
    Attention attention = read_attention(net, prefix + "attn.", windows.positions);
    attention.masks = masks;
    const Expression normalised = net.layer_norm(x, prefix + "norm1");
    const Expression attended =
        net.add(x, window_attention(net, normalised, prefix + "attn.", attention, windows.window));
    return net.add(attended,
                   perceptron(net, net.layer_norm(attended, prefix + "norm2"), prefix + "mlp."));
}

Expression channels_last(Net &net, const Expression &x)
{
    return net.let(x + ".permute([0, 2, 3, 1])");
}

Expression channels_first(Net &net, const Expression &x)
{
    return net.let(x + ".permute([0, 3, 1, 2])");
}

} // namespace engine_torch
