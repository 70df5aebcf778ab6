// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "attention.h"

#include "base/compose.h"

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

// The last window of a shifted picture contains pixels of two opposite sides, which must not mix.
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

constexpr char channel_function[] = R"(
def channel_attention(self, q, k, v, temperature):
    q = q / torch.clamp_min(torch.norm(q, 2, [-1], True), 1e-12)
    k = k / torch.clamp_min(torch.norm(k, 2, [-1], True), 1e-12)
    scores = torch.matmul(q, k.transpose(-2, -1)) * temperature
    return torch.matmul(torch.softmax(scores, -1), v)
)";

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

void use_window_attention(Net &net)
{
    net.function(window_function);
}

void use_channel_attention(Net &net)
{
    net.function(channel_function);
}

Expression channel_attention(Net &net, const Expression &query, const Expression &key,
                             const Expression &value, const std::string &temperature)
{
    use_channel_attention(net);
    net.mark_nonlocal();
    return net.let(concat("self.channel_attention(", query, ", ", key, ", ", value, ", ",
                          net.weight(temperature), ")"));
}

} // namespace engine_torch::attention
