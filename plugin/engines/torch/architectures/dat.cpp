// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// DAT: Dual Aggregation Transformer.  Blocks attend alternately among the pixels of windows and
// among channels.  A parallel convolution and the attention weight each other.
#include "architecture.h"
#include "rectangles.h"

#include "base/compose.h"

namespace engine_torch
{
namespace dat_network
{
namespace
{

using attention::Rectangles;
using attention::to_picture;
using attention::to_tokens;
using dnn_torch::concat;

bool recognises(const Weights &weights)
{
    return weights.has_all({"conv_first.weight", "before_RG.1.weight",
                            "layers.0.blocks.0.ffn.sg.norm.weight",
                            "layers.0.blocks.0.attn.attns.0.rpe_biases",
                            "layers.0.blocks.0.attn.channel_interaction.1.weight"});
}

// The query, key or value of each head, as heads x channels x pixels.
constexpr char heads_function[] = R"(
def channels_by_heads(self, qkv, heads: int):
    n, c = qkv.size(0), qkv.size(3) // 3
    return qkv.permute(3, 0, 1, 2).reshape(3, heads, c // heads, n, -1).permute(0, 3, 1, 2, 4)
)";

// ---- interaction of attention and convolution

// 1x1 convolutions that compute one number per channel or per pixel.
Expression interaction(Net &net, const Expression &x, const std::string &prefix, int64_t first)
{
    const std::string conv = concat(prefix, first);
    const Expression normal = net.batch_norm(net.conv(x, conv), concat(prefix, first + 1), conv);
    const Expression result = net.activate(normal, "gelu");
    return net.activate(net.conv(result, concat(prefix, first + 3)), "sigmoid");
}

Expression channel_weights(Net &net, const Expression &picture, const std::string &prefix)
{
    return interaction(net, net.picture_mean(picture), prefix + "channel_interaction.", 1);
}

Expression pixel_weights(Net &net, const Expression &picture, const std::string &prefix)
{
    return interaction(net, picture, prefix + "spatial_interaction.", 0);
}

Expression convolved(Net &net, const Expression &value, const std::string &prefix)
{
    const std::string conv = prefix + "dwconv.0";
    const int64_t channels = net.weights().size(conv + ".weight", 0);
    const Expression x = net.conv(value, conv, {.groups = channels});
    return net.activate(net.batch_norm(x, prefix + "dwconv.1", conv), "gelu");
}

Expression aggregate(Net &net, const Expression &attended, const Expression &attended_weights,
                     const Expression &convolved, const Expression &convolved_weights,
                     const std::string &prefix)
{
    const Expression sum = net.let(
        concat(attended, " * ", attended_weights, " + ", convolved, " * ", convolved_weights));
    return net.linear(to_tokens(net, sum), prefix + "proj");
}

// ---- the two kinds of attention

Expression spatial_attention(Net &net, const Expression &tokens, const std::string &prefix,
                             const Rectangles &shared, bool is_shifted)
{
    const Expression qkv = net.linear(tokens, prefix + "qkv");
    const Expression attended =
        to_picture(net, attention::rectangle_attention(net, qkv, prefix, shared, is_shifted));
    const int64_t channels = net.weights().size(prefix + "qkv.weight", 1);
    const Expression value =
        to_picture(net, net.let(concat(qkv, ".narrow(3, ", 2 * channels, ", ", channels, ")")));
    const Expression extra = convolved(net, value, prefix);
    return aggregate(net, attended, channel_weights(net, extra, prefix), extra,
                     pixel_weights(net, attended, prefix), prefix);
}

Expression channel_attention(Net &net, const Expression &tokens, const std::string &prefix)
{
    const int64_t heads = net.weights().size(prefix + "temperature", 0);
    attention::expect_heads(net, net.weights().size(prefix + "proj.weight", 1), heads);
    net.function(heads_function);
    const Expression parts = net.let(
        concat("self.channels_by_heads(", net.linear(tokens, prefix + "qkv"), ", ", heads, ")"));
    const auto as_picture = [&](const Expression &x) {
        return net.let(concat(x, ".reshape(", tokens, ".size(0), -1, ", tokens, ".size(1), ",
                              tokens, ".size(2))"));
    };
    const Expression attended = as_picture(attention::channel_attention(
        net, parts + "[0]", parts + "[1]", parts + "[2]", prefix + "temperature"));
    const Expression extra = convolved(net, as_picture(parts + "[2]"), prefix);
    return aggregate(net, attended, pixel_weights(net, extra, prefix), extra,
                     channel_weights(net, attended, prefix), prefix);
}

Expression block(Net &net, const Expression &tokens, const Rectangles &shared, int64_t group,
                 int64_t number)
{
    const std::string prefix = concat("layers.", group, ".blocks.", number, ".");
    Expression x = net.layer_norm(tokens, prefix + "norm1");
    x = number % 2 == 0 ? spatial_attention(net, x, prefix + "attn.", shared,
                                            attention::is_shifted(group, number))
                        : channel_attention(net, x, prefix + "attn.");
    const Expression attended = net.add(tokens, x);
    x = net.layer_norm(attended, prefix + "norm2");
    return net.add(attended, attention::gated_feed_forward(net, x, prefix + "ffn."));
}

Blueprint build(const Weights &weights)
{
    Net net(weights, dat.name);
    net.allow_missing("qkv.bias");
    return attention::network_of_rectangles(
        net, [&](const Expression &tokens, const Rectangles &shared, int64_t group,
                 int64_t number) { return block(net, tokens, shared, group, number); });
}

} // namespace
} // namespace dat_network

const Architecture dat = {
    .name = "DAT", .recognises = dat_network::recognises, .build = dat_network::build};

} // namespace engine_torch
