// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ATD: Adaptive Token Dictionary.  Each layer attends within windows, to a dictionary of tokens,
// and among all pixels that have the same token.
#include "architecture.h"
#include "attention.h"
#include "reconstruction.h"

#include "base/compose.h"

#include <algorithm>
#include <cmath>

namespace engine_torch
{
namespace atd_network
{
namespace
{

using attention::to_picture;
using attention::to_tokens;
using attention::Window;
using dnn_torch::concat;

struct Layout {
    Window window;
    int64_t category_size = 0; // how many pixels of a token attend to one another
    Expression indices, mask;
};

bool recognises(const Weights &weights)
{
    return weights.has_all({"relative_position_index_SA", "conv_first.weight",
                            "layers.0.residual_group.td",
                            "layers.0.residual_group.layers.0.attn_atd.scale",
                            "layers.0.residual_group.layers.0.attn_aca.logit_scale"});
}

// Mirrors the picture, including the border pixel, repeatedly if it is smaller than its padding.
constexpr char padding_function[] = R"(
def mirrored(self, size: int, multiple: int, like):
    wanted = size + (multiple - size % multiple) % multiple
    at = torch.remainder(torch.arange(wanted, device=like.device), 2 * size)
    return torch.minimum(at, 2 * size - 1 - at)

def pad_mirrored(self, x, multiple: int):
    x = torch.index_select(x, 2, self.mirrored(x.size(2), multiple, x))
    return torch.index_select(x, 3, self.mirrored(x.size(3), multiple, x))
)";

// Compares each pixel to each token.  `logarithm` is that of the number of tokens.
constexpr char dictionary_function[] = R"(
def likeness(self, q, k, scale, logarithm: float):
    q = q / torch.clamp_min(torch.norm(q, 2, [-1], True), 1e-12)
    k = k / torch.clamp_min(torch.norm(k, 2, [-1], True), 1e-12)
    scores = torch.matmul(q, k.transpose(-2, -1))
    return torch.softmax(scores * (1 + torch.clamp(scale, 0, 1) * logarithm), -1)
)";

// Sorts the pixels by token, cuts them into groups and restores their order.  Fills the last group
// with the last of the sorted pixels in reverse.
constexpr char category_function[] = R"(
def category_attention(self, qkv, likeness, logit_scale, heads: int, most: int):
    n, count, c = qkv.size(0), qkv.size(1), qkv.size(2) // 3
    order = torch.sort(torch.argmax(likeness, -1), stable=True, dim=-1, descending=False)[1]
    by_token = torch.gather(qkv, 1, order.unsqueeze(2).expand(n, count, 3 * c))
    size = min(count, most)
    groups = (count + size - 1) // size
    missing = groups * size - count
    filling = torch.flip(by_token.narrow(1, count - missing, missing), [1])
    parts = torch.cat([by_token, filling], 1)
    parts = parts.view(n, groups, size, 3, heads, c // heads).permute(3, 0, 1, 4, 2, 5)
    scores = torch.matmul(parts[0], parts[1].transpose(-2, -1))
    scores = scores * torch.exp(torch.clamp_max(logit_scale, 4.605170185988092))
    x = torch.matmul(torch.softmax(scores, -1), parts[2])
    x = x.permute(0, 1, 3, 2, 4).reshape(n, groups * size, c).narrow(1, 0, count)
    places = torch.arange(count, device=qkv.device).unsqueeze(0).expand(n, count)
    back = torch.scatter(torch.zeros_like(order), 1, order, places)
    return torch.gather(x, 1, back.unsqueeze(2).expand(n, count, c))
)";

constexpr char refinement_function[] = R"(
def refined(self, dictionary, likeness, x, sigma, weight, bias):
    rows = torch.instance_norm(likeness.transpose(1, 2), weight, bias, None, None, True, 0.1,
                               1e-05, False)
    kept = torch.sigmoid(sigma)
    seen = torch.matmul(torch.softmax(rows, -1), x)
    return kept * dictionary + (1 - kept) * seen
)";

// ---- the three attentions of a layer

// Returns tokens as N, pixels, channels.
Expression flat(Net &net, const Expression &tokens)
{
    return net.let(concat(tokens, ".flatten(1, 2)"));
}

Expression window_attention(Net &net, const Expression &qkv, const std::string &prefix,
                            const Layout &layout, bool is_shifted)
{
    attention::use_window_attention(net);
    const Expression bias = attention::position_bias(
        net, net.weight(prefix + "relative_position_bias_table"), layout.indices, layout.window);
    const Expression parts = net.let(concat(qkv, ".unflatten(3, [3, -1]).permute(3, 0, 1, 2, 4)"));
    const Expression x = net.let(concat("self.window_attention(", parts, ", ", bias, ", ",
                                        is_shifted ? layout.mask : attention::no_mask, ", ",
                                        layout.window.height, ", ", layout.window.width, ")"));
    return net.linear(x, prefix + "proj");
}

struct Recognised {
    Expression x, likeness;
};

Recognised dictionary_attention(Net &net, const Expression &pixels, const Expression &dictionary,
                                const std::string &prefix)
{
    net.function(dictionary_function);
    const auto count = static_cast<double>(net.weights().size(prefix + "scale", 0));
    const Expression query = net.linear(pixels, prefix + "wq");
    const Expression key = net.linear(dictionary, prefix + "wk");
    const Expression likeness =
        net.let(concat("self.likeness(", query, ", ", key, ", ", net.weight(prefix + "scale"), ", ",
                       literal(std::log(std::max(count, 1.0))), ")"));
    const Expression value = net.linear(dictionary, prefix + "wv");
    return {.x = net.let(concat("torch.matmul(", likeness, ", ", value, ")")),
            .likeness = likeness};
}

Expression category_attention(Net &net, const Expression &qkv, const Expression &likeness,
                              const std::string &prefix, int64_t heads, const Layout &layout)
{
    net.function(category_function);
    const Expression x = net.let(concat("self.category_attention(", flat(net, qkv), ", ", likeness,
                                        ", ", net.weight(prefix + "logit_scale"), ", ", heads, ", ",
                                        layout.category_size, ")"));
    return net.linear(x, prefix + "proj");
}

// ---- layers

Expression feed_forward(Net &net, const Expression &tokens, const std::string &prefix)
{
    const std::string depthwise = prefix + "dwconv.depthwise_conv.0";
    const int64_t hidden = net.weights().size(depthwise + ".weight", 0);
    const Expression x = net.activate(net.linear(tokens, prefix + "fc1"), "gelu");
    Expression extra = net.conv(to_picture(net, x), depthwise, {.groups = hidden});
    extra = to_tokens(net, net.activate(extra, "gelu"));
    return net.linear(net.add(x, extra), prefix + "fc2");
}

Expression refined(Net &net, const Expression &dictionary, const Expression &likeness,
                   const Expression &tokens, const std::string &prefix)
{
    net.function(refinement_function);
    return net.let(concat("self.refined(", dictionary, ", ", likeness, ", ", flat(net, tokens),
                          ", ", net.weight(prefix + "sigma"), ", ",
                          net.weight(prefix + "norm3.weight"), ", ",
                          net.weight(prefix + "norm3.bias"), ")"));
}

struct State {
    Expression x, dictionary;
};

State layer(Net &net, const State &before, const std::string &prefix, const Layout &layout,
            bool is_shifted, bool is_last)
{
    const int64_t heads = net.weights().size(prefix + "attn_win.relative_position_bias_table", 1);
    attention::expect_heads(net, net.weights().size(prefix + "wqkv.weight", 1), heads);
    const Expression normed = net.layer_norm(before.x, prefix + "norm1");
    const Expression qkv = net.linear(normed, prefix + "wqkv");
    const Recognised seen =
        dictionary_attention(net, flat(net, normed), before.dictionary, prefix + "attn_atd.");
    const Expression alike =
        category_attention(net, qkv, seen.likeness, prefix + "attn_aca.", heads, layout);
    const Expression near = window_attention(net, qkv, prefix + "attn_win.", layout, is_shifted);
    Expression x = net.let(
        concat(before.x, " + ", near, " + (", seen.x, " + ", alike, ").view_as(", before.x, ")"));
    x = net.add(x, feed_forward(net, net.layer_norm(x, prefix + "norm2"), prefix + "convffn."));
    if (is_last)
        return {.x = x, .dictionary = ""};
    return {.x = x, .dictionary = refined(net, before.dictionary, seen.likeness, x, prefix)};
}

Expression group(Net &net, const Expression &tokens, const std::string &prefix,
                 const Layout &layout)
{
    const std::string layers = prefix + "residual_group.layers.";
    const int64_t count = net.weights().count(layers);
    State state = {.x = tokens,
                   .dictionary =
                       net.let(net.weight(prefix + "residual_group.td") + ".unsqueeze(0)")};
    for (int64_t i = 0; i < count; i++)
        state = layer(net, state, concat(layers, i, "."), layout, i % 2 != 0, i + 1 == count);
    const Expression x =
        reconstruction::residual_convolution(net, to_picture(net, state.x), prefix + "conv");
    return net.add(tokens, to_tokens(net, x));
}

// ---- the network

// The weights do not show the category size: the small published network has smaller ones.
int64_t category_size(const Weights &weights)
{
    const bool is_light = weights.has("upsample.0.weight") && !weights.has("conv_last.weight") &&
                          weights.size("conv_first.weight", 0) == 48;
    return is_light ? 128 : 256;
}

Window window_of(const Net &net)
{
    const std::string name = "relative_position_index_SA";
    const int64_t side = reconstruction::square_side(net, name, net.weights().size(name, 0), 1);
    const int64_t rows = net.weights().size(
        "layers.0.residual_group.layers.0.attn_win.relative_position_bias_table", 0);
    if (rows != (2 * side - 1) * (2 * side - 1))
        throw WeightFault(concat("looks like ", net.architecture(), ", but ", name,
                                 " and relative_position_bias_table are of different windows"));
    return {.height = side, .width = side};
}

Expression body(Net &net, const Expression &first)
{
    const Weights &weights = net.weights();
    Layout layout = {.window = window_of(net),
                     .category_size = category_size(weights),
                     .indices = "",
                     .mask = ""};
    layout.indices = attention::relative_indices(net, layout.window);
    net.ignore("relative_position_index_SA");
    net.report("window", layout.window.height);
    Expression x = to_tokens(net, first);
    layout.mask = attention::shift_mask(net, x, layout.window);
    if (weights.has("patch_embed.norm.weight"))
        x = net.layer_norm(x, "patch_embed.norm");
    std::string depths;
    const int64_t count = weights.count("layers.");
    for (int64_t i = 0; i < count; i++) {
        const std::string prefix = concat("layers.", i, ".");
        x = group(net, x, prefix, layout);
        dnn_torch::add_to_list(
            depths, std::to_string(weights.count(prefix + "residual_group.layers.")), "+");
    }
    net.report("layers", depths);
    x = to_picture(net, net.layer_norm(x, "norm"));
    return net.add(reconstruction::residual_convolution(net, x, "conv_after_body"), first);
}

reconstruction::Enlarged enlarge(Net &net, const Expression &x, const Expression &picture,
                                 int64_t channels)
{
    const Weights &weights = net.weights();
    if (weights.has("conv_up1.weight")) {
        net.report("upsampler", "nearest+conv");
        return reconstruction::enlarge_by_neighbours(net, x);
    }
    if (weights.has("conv_before_upsample.0.weight")) {
        net.report("upsampler", "pixelshuffle");
        return reconstruction::enlarge_in_steps(net, x);
    }
    if (weights.has("conv_last.weight")) {
        net.report("upsampler", "none");
        return {.x = net.add(picture, net.conv(x, "conv_last")), .scale = 1};
    }
    net.report("upsampler", "pixelshuffledirect");
    return reconstruction::enlarge_at_once(net, x, channels);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, atd.name);
    for (const char *end : {"qkv.bias", "wq.bias", "wk.bias", "wv.bias", "proj.bias"})
        net.allow_missing(end);
    net.mark_nonlocal();
    net.ignore("no_norm"); // a marker: there is no mean to subtract
    const int64_t channels = weights.size("conv_first.weight", 1);
    const int64_t normed_channels = weights.has("no_norm") ? 0 : channels;
    net.report("features", weights.size("conv_first.weight", 0));
    net.function(padding_function);
    const Expression padded =
        net.let(concat("self.pad_mirrored(", Net::input, ", ", window_of(net).height, ")"));
    const Expression picture = reconstruction::without_mean(net, padded, normed_channels);
    const Expression x = body(net, net.conv(picture, "conv_first"));
    const auto enlarged = enlarge(net, x, picture, channels);
    const Expression coloured = reconstruction::with_mean(net, enlarged.x, normed_channels);
    return net.finish(net.crop(coloured, Net::input, enlarged.scale), enlarged.scale, channels,
                      channels);
}

} // namespace
} // namespace atd_network

const Architecture atd = {
    .name = "ATD", .recognises = atd_network::recognises, .build = atd_network::build};

} // namespace engine_torch
