// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// RGT: Recursive Generalization Transformer.  Blocks attend alternately within windows, as in DAT,
// and to a small version of the whole picture, which one convolution reduces repeatedly.
#include "architecture.h"
#include "rectangles.h"

#include "base/compose.h"

namespace engine_torch
{
namespace rgt_network
{
namespace
{

using attention::Rectangles;
using attention::to_picture;
using attention::to_tokens;
using dnn_torch::concat;

bool recognises(const Weights &weights)
{
    return weights.has_all({"conv_first.weight", "before_RG.1.weight", "layers.0.blocks.0.gamma",
                            "layers.0.blocks.0.mlp.sg.norm.weight",
                            "layers.0.blocks.0.attn.attns.0.rpe_biases"});
}

// Reduces to a fourth at a time: twice, and once more for each factor of 4 by which the longer side
// exceeds 64.  Stops at pictures that are too small for that, which the published network refuses.
constexpr char reduction_function[] = R"(
def reduce(self, x, weight, bias: Optional[Tensor]):
    times = 0
    longest = max(x.size(2), x.size(3)) // 64
    while longest >= 1:
        times += 1
        longest = longest // 4
    for _ in range(max(times, 2)):
        if min(x.size(2), x.size(3)) >= 4:
            x = torch.conv2d(x, weight, bias, [4, 4], [0, 0], [1, 1], x.size(1))
    return x
)";

constexpr char attention_function[] = R"(
def attend_to_reduced(self, q, k, v, heads: int):
    n, height, width, c = q.size(0), q.size(1), q.size(2), v.size(3)
    each = q.size(3) // heads
    q = q.view(n, -1, heads, each).transpose(1, 2)
    k = k.view(n, -1, heads, each).permute(0, 2, 3, 1)
    v = v.reshape(n, -1, heads, c // heads).transpose(1, 2)
    scores = torch.matmul(q, k) * each ** -0.5
    x = torch.matmul(torch.softmax(scores, -1), v)
    return x.transpose(1, 2).reshape(n, height, width, c)
)";

Expression depthwise(Net &net, const Expression &picture, const std::string &name)
{
    return net.conv(picture, name, {.groups = net.weights().size(name + ".weight", 0)});
}

Expression window_attention(Net &net, const Expression &tokens, const std::string &prefix,
                            const Rectangles &shared, bool is_shifted)
{
    const Expression qkv = net.linear(tokens, prefix + "qkv");
    const Expression attended =
        attention::rectangle_attention(net, qkv, prefix, shared, is_shifted);
    const int64_t channels = net.weights().size(prefix + "qkv.weight", 1);
    const Expression value =
        to_picture(net, net.let(concat(qkv, ".narrow(3, ", 2 * channels, ", ", channels, ")")));
    const Expression extra = to_tokens(net, depthwise(net, value, prefix + "get_v"));
    return net.linear(net.add(attended, extra), prefix + "proj");
}

Expression recursive_attention(Net &net, const Expression &tokens, const std::string &prefix,
                               int64_t heads)
{
    net.mark_nonlocal();
    net.function(reduction_function);
    net.function(attention_function);
    attention::expect_heads(net, net.weights().size(prefix + "proj.weight", 1), heads);
    attention::expect_heads(net, net.weights().size(prefix + "q.weight", 0), heads);
    Expression small = net.let(concat("self.reduce(", to_picture(net, tokens), ", ",
                                      net.weight(prefix + "reduction1.weight"), ", ",
                                      net.weight_or_none(prefix + "reduction1.bias"), ")"));
    small = net.conv(depthwise(net, small, prefix + "dwconv"), prefix + "conv");
    small = net.layer_norm(to_tokens(net, small), prefix + "norm_act.0");
    small = net.activate(small, "gelu");
    Expression value = net.linear(small, prefix + "v");
    value = net.add(value, to_tokens(net, depthwise(net, to_picture(net, value), prefix + "cpe")));
    const Expression query = net.linear(tokens, prefix + "q");
    const Expression key = net.linear(small, prefix + "k");
    const Expression x =
        net.let(concat("self.attend_to_reduced(", query, ", ", key, ", ", value, ", ", heads, ")"));
    return net.linear(x, prefix + "proj");
}

// Both branches of the windows have half of the heads each; an odd head is missing there.
int64_t heads_of(const Net &net, int64_t group)
{
    const std::string prefix = concat("layers.", group, ".blocks.0.attn.");
    const int64_t even = 2 * net.weights().size(prefix + "attns.0.pos.pos3.2.weight", 0);
    const int64_t channels = net.weights().size(prefix + "proj.weight", 1);
    return even > 0 && channels % even == 0 ? even : even + 1;
}

Expression block(Net &net, const Expression &tokens, const Rectangles &shared, int64_t group,
                 int64_t number)
{
    const std::string prefix = concat("layers.", group, ".blocks.", number, ".");
    Expression x = net.layer_norm(tokens, prefix + "norm1");
    x = number % 2 == 0 ? window_attention(net, x, prefix + "attn.", shared,
                                           attention::is_shifted(group, number))
                        : recursive_attention(net, x, prefix + "attn.", heads_of(net, group));
    x = net.add(tokens, x);
    const Expression gated =
        attention::gated_feed_forward(net, net.layer_norm(x, prefix + "norm2"), prefix + "mlp.");
    x = net.add(x, gated);
    return net.let(concat(x, " + ", tokens, " * ", net.weight(prefix + "gamma")));
}

Blueprint build(const Weights &weights)
{
    Net net(weights, rgt.name);
    for (const char *end : {"qkv.bias", ".q.bias", ".k.bias", ".v.bias", ".kv.bias"})
        net.allow_missing(end);
    return attention::network_of_rectangles(
        net, [&](const Expression &tokens, const Rectangles &shared, int64_t group,
                 int64_t number) { return block(net, tokens, shared, group, number); });
}

} // namespace
} // namespace rgt_network

const Architecture rgt = {
    .name = "RGT", .recognises = rgt_network::recognises, .build = rgt_network::build};

} // namespace engine_torch
