// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "attention.h"

#include "base/compose.h"

#include <algorithm>
#include <cstring>

namespace engine_torch::attention
{
namespace
{

using dnn_torch::concat;

constexpr char position_bias_function[] = R"(
def position_bias(self, table, indices, size: int):
    rows = torch.index_select(table, 0, indices).view(size, size, -1)
    return rows.permute(2, 0, 1).contiguous()
)";

// The last window of a shifted picture holds both ends of it: what is before and behind the cut
// must not mix.
constexpr char mask_function[] = R"(
def shift_mask(self, x, h: int, w: int):
    height, width = x.size(1), x.size(2)
    y = torch.arange(height, device=x.device)
    x_ = torch.arange(width, device=x.device)
    rows = torch.ge(y, height - h).int() + torch.ge(y, height - h // 2).int()
    columns = torch.ge(x_, width - w).int() + torch.ge(x_, width - w // 2).int()
    part = rows.unsqueeze(1) * 3 + columns.unsqueeze(0)
    part = part.view(height // h, h, width // w, w).permute(0, 2, 1, 3).reshape(-1, h * w)
    apart = torch.ne(part.unsqueeze(1), part.unsqueeze(2))
    return apart.to(x.dtype) * -100.0
)";

// Queries, keys and values are 3,N,H,W,C.
constexpr char window_function[] = R"(
def window_attention(self, qkv, bias, mask: Optional[Tensor], h: int, w: int):
    n, height, width, c = qkv.size(1), qkv.size(2), qkv.size(3), qkv.size(4)
    heads = bias.size(0)
    if mask is not None:
        qkv = torch.roll(qkv, [-(h // 2), -(w // 2)], [2, 3])
    parts = qkv.view(3, n, height // h, h, width // w, w, heads, c // heads)
    parts = parts.permute(0, 1, 2, 4, 6, 3, 5, 7).reshape(3, -1, heads, h * w, c // heads)
    q, k, v = parts[0], parts[1], parts[2]
    scores = torch.matmul(q * (c // heads) ** -0.5, k.transpose(-2, -1)) + bias
    if mask is not None:
        scores = scores.view(n, -1, heads, h * w, h * w) + mask.unsqueeze(1)
        scores = scores.view(-1, heads, h * w, h * w)
    x = torch.matmul(torch.softmax(scores, -1), v)
    x = x.view(n, height // h, width // w, heads, h, w, c // heads)
    x = x.permute(0, 1, 4, 2, 5, 3, 6).reshape(n, height, width, c)
    if mask is not None:
        x = torch.roll(x, [h // 2, w // 2], [1, 2])
    return x
)";

constexpr char rectangle_padding_function[] = R"(
def pad_tokens(self, x, multiple: int):
    down = (multiple - x.size(1) % multiple) % multiple
    right = (multiple - x.size(2) % multiple) % multiple
    return torch.constant_pad_nd(x, [0, 0, 0, right, 0, down])
)";

// Half of the channels is cut off each of queries, keys and values.
constexpr char rectangle_function[] = R"(
def rectangle_attention(self, qkv, bias_0, bias_1, mask_0: Optional[Tensor],
                        mask_1: Optional[Tensor], h: int, w: int):
    height, width = qkv.size(1), qkv.size(2)
    half = qkv.size(3) // 6
    padded = self.pad_tokens(qkv, max(h, w))
    parts = padded.view(padded.size(0), padded.size(1), padded.size(2), 3, 2, half)
    parts = parts.permute(4, 3, 0, 1, 2, 5).contiguous()
    lying = self.window_attention(parts[0], bias_0, mask_0, h, w)
    standing = self.window_attention(parts[1], bias_1, mask_1, w, h)
    return torch.cat([lying, standing], 3)[:, :height, :width]
)";

constexpr char channel_function[] = R"(
def channel_attention(self, q, k, v, temperature):
    q = q / torch.clamp_min(torch.norm(q, 2, [-1], True), 1e-12)
    k = k / torch.clamp_min(torch.norm(k, 2, [-1], True), 1e-12)
    scores = torch.matmul(q, k.transpose(-2, -1)) * temperature
    return torch.matmul(torch.softmax(scores, -1), v)
)";

// All differences of positions in a window, row by row: what the networks call rpe_biases.
Expression differences(Net &net, const Window &window)
{
    std::vector<float> values;
    for (int64_t y = 1 - window.height; y < window.height; y++)
        for (int64_t x = 1 - window.width; x < window.width; x++) {
            values.push_back(static_cast<float>(y));
            values.push_back(static_cast<float>(x));
        }
    const auto rows = static_cast<int64_t>(values.size() / 2);
    return net.numbers({rows, 2}, std::move(values));
}

// Two numbers whose product and sum are given; 0 if there are none.  The first is not larger.
Window sides_of(int64_t product, int64_t sum)
{
    for (int64_t first = 1; first * first <= product; first++)
        if (product % first == 0 && first + product / first == sum)
            return {.height = first, .width = product / first};
    return {};
}

// Whether the first number of a table of differences is larger than the second, in size: 1 - h and
// 1 - w.  Negative floats of any width are in the order of their bits.
bool is_standing(const Weight &table)
{
    const size_t width = bytes_of(table.type);
    const auto bits = [&](int64_t element) {
        uint64_t number = 0;
        std::memcpy(&number, table.bytes.data() + static_cast<size_t>(element) * width, width);
        return number;
    };
    return bits(0) > bits(table.strides[1]);
}

// The small network that makes a branch's table of positions.
Expression position_table(Net &net, const Expression &positions, const std::string &prefix)
{
    Expression x = net.linear(positions, prefix + "pos_proj");
    for (const char *layer : {"pos1", "pos2", "pos3"}) {
        x = net.layer_norm(x, concat(prefix, layer, ".0"));
        x = net.linear(net.activate(x, "relu"), concat(prefix, layer, ".2"));
    }
    return x;
}

} // namespace

Expression to_tokens(Net &net, const Expression &picture)
{
    return net.let(picture + ".permute(0, 2, 3, 1)");
}

Expression to_picture(Net &net, const Expression &tokens)
{
    return net.let(tokens + ".permute(0, 3, 1, 2)");
}

void expect_heads(const Net &net, int64_t channels, int64_t heads)
{
    if (heads < 1 || channels < 1 || channels % heads != 0)
        throw WeightFault(concat("looks like ", net.architecture(), ", but its ", heads,
                                 " heads of attention cannot share ", channels, " channels"));
}

Expression relative_indices(Net &net, const Window &window)
{
    std::vector<int64_t> values;
    values.reserve(static_cast<size_t>(window.size() * window.size()));
    for (int64_t from = 0; from < window.size(); from++)
        for (int64_t to = 0; to < window.size(); to++) {
            const int64_t down = from / window.width - to / window.width + window.height - 1;
            const int64_t right = from % window.width - to % window.width + window.width - 1;
            values.push_back(down * (2 * window.width - 1) + right);
        }
    return net.indices({window.size() * window.size()}, std::move(values));
}

Expression position_bias(Net &net, const Expression &table, const Expression &indices,
                         const Window &window)
{
    net.function(position_bias_function);
    return net.let(concat("self.position_bias(", table, ", ", indices, ", ", window.size(), ")"));
}

Expression shift_mask(Net &net, const Expression &tokens, const Window &window)
{
    net.function(mask_function);
    return net.let(
        concat("self.shift_mask(", tokens, ", ", window.height, ", ", window.width, ")"));
}

// The tables' sizes are h * w and (2h - 1) * (2w - 1), from which h and w follow, but not which is
// which.
Window window_of(const Net &net, const std::string &prefix)
{
    const std::string index = prefix + "attns.0.relative_position_index";
    const std::string biases = prefix + "attns.0.rpe_biases";
    const int64_t size = net.weights().size(index, 0);
    const int64_t rows = net.weights().size(biases, 0);
    // A table of size * size numbers follows: the file has to have as many.
    constexpr int64_t largest = 4096;
    Window window;
    if (size == net.weights().size(index, 1) && net.weights().size(biases, 1) == 2 &&
        size <= largest && rows <= 4 * largest)
        window = sides_of(size, (4 * size + 1 - rows) / 2);
    if (window.size() == 0 || (2 * window.height - 1) * (2 * window.width - 1) != rows)
        throw WeightFault(concat("looks like ", net.architecture(), ", but ", index,
                                 " and rpe_biases are of no window's size"));
    return is_standing(net.weights().at(biases)) ? window.turned() : window;
}

Rectangles rectangles(Net &net, const Expression &tokens, const Window &window)
{
    net.function(rectangle_padding_function);
    const Expression padded = net.let(
        concat("self.pad_tokens(", tokens, ", ", std::max(window.height, window.width), ")"));
    Rectangles made = {.window = window, .masks = {}, .indices = {}, .positions = {}};
    for (size_t i = 0; i < 2; i++) {
        const Window each = i == 0 ? window : window.turned();
        made.masks[i] = shift_mask(net, padded, each);
        made.indices[i] = relative_indices(net, each);
        made.positions[i] = differences(net, each);
    }
    return made;
}

Expression rectangle_attention(Net &net, const Expression &qkv, const std::string &prefix,
                               const Rectangles &shared, bool is_shifted)
{
    net.function(window_function);
    net.function(rectangle_function);
    std::string biases, masks;
    for (size_t i = 0; i < 2; i++) {
        const std::string branch = concat(prefix, "attns.", i, ".");
        const int64_t channels = net.weights().size(prefix + "proj.weight", 1);
        expect_heads(net, channels, 2 * net.weights().size(branch + "pos.pos3.2.weight", 0));
        const Expression table = position_table(net, shared.positions[i], branch + "pos.");
        const Window window = i == 0 ? shared.window : shared.window.turned();
        biases += concat(", ", position_bias(net, table, shared.indices[i], window));
        masks += concat(", ", is_shifted ? shared.masks[i] : no_mask);
        net.ignore(branch + "relative_position_index");
        net.ignore(branch + "rpe_biases");
    }
    // The published networks keep the masks for one size of pictures.
    net.ignore(prefix + "attn_mask_0");
    net.ignore(prefix + "attn_mask_1");
    return net.let(concat("self.rectangle_attention(", qkv, biases, masks, ", ",
                          shared.window.height, ", ", shared.window.width, ")"));
}

bool is_shifted(int64_t group, int64_t block)
{
    return group % 2 == 0 ? block % 4 == 2 : block % 4 == 0;
}

Expression gated_feed_forward(Net &net, const Expression &tokens, const std::string &prefix)
{
    const Expression x = net.activate(net.linear(tokens, prefix + "fc1"), "gelu");
    const int64_t half = net.weights().size(prefix + "sg.norm.weight", 0);
    const Expression kept = net.let(concat(x, ".narrow(3, 0, ", half, ")"));
    Expression gate = net.let(concat(x, ".narrow(3, ", half, ", ", half, ")"));
    gate = to_picture(net, net.layer_norm(gate, prefix + "sg.norm"));
    gate = to_tokens(net, net.conv(gate, prefix + "sg.conv", {.groups = half}));
    return net.linear(net.let(concat(kept, " * ", gate)), prefix + "fc2");
}

void use_channel_attention(Net &net)
{
    net.function(channel_function);
}

Expression channel_attention(Net &net, const Expression &query, const Expression &key,
                             const Expression &value, const std::string &temperature)
{
    use_channel_attention(net);
    return net.let(concat("self.channel_attention(", query, ", ", key, ", ", value, ", ",
                          net.weight(temperature), ")"));
}

} // namespace engine_torch::attention
