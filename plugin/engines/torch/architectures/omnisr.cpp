// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// OmniSR.  A block attends to the pixels and then to the channels of windows, first of adjacent
// pixels ("block"), then of pixels far apart ("grid").  Each group of blocks ends with an attention
// over a wide neighbourhood (ESA).
#include "architecture.h"
#include "attention.h"
#include "reconstruction.h"

#include "base/compose.h"

namespace engine_torch
{
namespace omnisr_network
{
namespace
{

using attention::Window;
using dnn_torch::concat;

// Published values that the weights do not show.
constexpr int64_t heads_without_bias = 4, window_without_bias = 8;

struct Layout {
    Window window;
    int64_t heads = 0;
    Expression indices; // "" without bias
};

bool recognises(const Weights &weights)
{
    return weights.has_all({"residual_layer.0.residual_layer.0.layer.0.fn.0.weight",
                            "residual_layer.0.esa.conv1.weight", "input.weight", "up.0.weight"});
}

// The attention's pooling needs a least size, below which the published network fails.
constexpr char padding_function[] = R"(
def pad_with_black(self, x, multiple: int):
    height, width = max(x.size(2), 16), max(x.size(3), 16)
    height += (multiple - height % multiple) % multiple
    width += (multiple - width % multiple) % multiple
    return torch.constant_pad_nd(x, [0, width - x.size(3), 0, height - x.size(2)])
)";

// A window has s x s pixels: neighbours, or at distances of the picture's size divided by s.
constexpr char windows_functions[] = R"(
def window_pixels(self, x, s: int, is_grid: bool):
    n, c, height, width = x.size(0), x.size(1), x.size(2), x.size(3)
    if is_grid:
        parts = x.view(n, c, s, height // s, s, width // s).permute(0, 3, 5, 2, 4, 1)
    else:
        parts = x.view(n, c, height // s, s, width // s, s).permute(0, 2, 4, 3, 5, 1)
    return parts.reshape(-1, s * s, c)

def window_picture(self, x, like, s: int, is_grid: bool):
    n, height, width = like.size(0), like.size(2), like.size(3)
    parts = x.view(n, height // s, width // s, s, s, -1)
    if is_grid:
        parts = parts.permute(0, 5, 3, 1, 4, 2)
    else:
        parts = parts.permute(0, 5, 1, 3, 2, 4)
    return parts.reshape(n, -1, height, width)
)";

constexpr char pixel_attention_function[] = R"(
def pixel_attention(self, qkv, bias: Optional[Tensor], heads: int):
    n, size, c = qkv.size(0), qkv.size(1), qkv.size(2) // 3
    parts = qkv.view(n, size, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
    scores = torch.matmul(parts[0] * (c // heads) ** -0.5, parts[1].transpose(-2, -1))
    if bias is not None:
        scores = scores + bias
    x = torch.matmul(torch.softmax(scores, -1), parts[2])
    return x.transpose(1, 2).reshape(n, size, c)
)";

// This grid differs from that of pixels: it has one picture for each position within the windows.
constexpr char window_channels_function[] = R"(
def window_channels(self, qkv, temperature, s: int, is_grid: bool):
    n, c, height, width = qkv.size(0), qkv.size(1) // 3, qkv.size(2), qkv.size(3)
    heads = temperature.size(0)
    parts = qkv.view(n, 3, heads, c // heads, height // s, s, width // s, s)
    if is_grid:
        parts = parts.permute(1, 0, 5, 7, 2, 3, 4, 6)
    else:
        parts = parts.permute(1, 0, 4, 6, 2, 3, 5, 7)
    sizes = parts.size()
    flat = parts.reshape(3, -1, heads, c // heads, sizes[6] * sizes[7])
    x = self.channel_attention(flat[0], flat[1], flat[2], temperature)
    x = x.view(sizes[1:])
    if is_grid:
        x = x.permute(0, 3, 4, 5, 1, 6, 2)
    else:
        x = x.permute(0, 3, 4, 1, 5, 2, 6)
    return x.reshape(n, c, height, width)
)";

const char *truth(bool value)
{
    return value ? "True" : "False";
}

// ---- the parts of a block

// nn.LayerNorm over the channels of a picture.
Expression picture_norm(Net &net, const Expression &x, const std::string &name)
{
    return attention::to_picture(net, net.layer_norm(attention::to_tokens(net, x), name, 1e-6));
}

// An expansion, a depthwise convolution and a projection; the means of the channels weight them.
Expression local_convolutions(Net &net, const Expression &input, const std::string &prefix)
{
    const int64_t hidden = net.weights().size(prefix + "2.weight", 0);
    Expression x = net.activate(net.conv(input, prefix + "0"), "gelu");
    x = net.activate(net.conv(x, prefix + "2", {.groups = hidden}), "gelu");
    net.mark_nonlocal();
    Expression gate = net.let(concat("torch.mean(", x, ", [2, 3])"));
    gate = net.activate(net.linear(gate, prefix + "4.gate.1"), "silu");
    gate = net.activate(net.linear(gate, prefix + "4.gate.3"), "sigmoid");
    x = net.let(concat(x, " * ", gate, ".unsqueeze(2).unsqueeze(3)"));
    return net.add(input, net.conv(x, prefix + "5"));
}

Expression gated_convolutions(Net &net, const Expression &input, const std::string &prefix)
{
    const int64_t doubled = net.weights().size(prefix + "fn.dwconv.weight", 0);
    Expression x = net.conv(picture_norm(net, input, prefix + "norm"), prefix + "fn.project_in");
    x = net.conv(x, prefix + "fn.dwconv", {.groups = doubled});
    x = net.let(concat("torch.gelu(", x, ".narrow(1, 0, ", doubled / 2, ")) * ", x, ".narrow(1, ",
                       doubled / 2, ", ", doubled / 2, ")"));
    return net.add(input, net.conv(x, prefix + "fn.project_out"));
}

Expression pixel_attention(Net &net, const Expression &input, const std::string &prefix,
                           const Layout &layout, bool is_grid)
{
    net.function(windows_functions);
    net.function(pixel_attention_function);
    const std::string how = concat(layout.window.height, ", ", truth(is_grid), ")");
    const Expression pixels = net.let(concat("self.window_pixels(", input, ", ", how));
    Expression bias = "None";
    if (!layout.indices.empty())
        bias = attention::position_bias(net, net.weight(prefix + "fn.rel_pos_bias.weight"),
                                        layout.indices, layout.window);
    const Expression qkv =
        net.linear(net.layer_norm(pixels, prefix + "norm"), prefix + "fn.to_qkv");
    Expression x =
        net.let(concat("self.pixel_attention(", qkv, ", ", bias, ", ", layout.heads, ")"));
    x = net.add(pixels, net.linear(x, prefix + "fn.to_out.0"));
    return net.let(concat("self.window_picture(", x, ", ", input, ", ", how));
}

Expression channel_attention(Net &net, const Expression &input, const std::string &prefix,
                             const Layout &layout, bool is_grid)
{
    attention::use_channel_attention(net);
    net.function(window_channels_function);
    const std::string temperature = prefix + "fn.temperature";
    const int64_t wide = net.weights().size(prefix + "fn.qkv.weight", 0);
    attention::expect_heads(net, wide / 3, net.weights().size(temperature, 0));
    Expression x = net.conv(picture_norm(net, input, prefix + "norm"), prefix + "fn.qkv");
    x = net.conv(x, prefix + "fn.qkv_dwconv", {.groups = wide});
    x = net.let(concat("self.window_channels(", x, ", ", net.weight(temperature), ", ",
                       layout.window.height, ", ", truth(is_grid), ")"));
    return net.add(input, net.conv(x, prefix + "fn.project_out"));
}

// The missing numbers are layers that only move pixels.
Expression block(Net &net, const Expression &input, const std::string &prefix, const Layout &layout)
{
    Expression x = local_convolutions(net, input, prefix + "0.fn.");
    x = pixel_attention(net, x, prefix + "2.", layout, false);
    x = gated_convolutions(net, x, prefix + "4.");
    x = channel_attention(net, x, prefix + "5.", layout, false);
    x = gated_convolutions(net, x, prefix + "6.");
    x = pixel_attention(net, x, prefix + "8.", layout, true);
    x = gated_convolutions(net, x, prefix + "10.");
    x = channel_attention(net, x, prefix + "11.", layout, true);
    return gated_convolutions(net, x, prefix + "12.");
}

// ---- groups of blocks

// Weights each pixel by a wide neighbourhood.
Expression surroundings(Net &net, const Expression &input, const std::string &prefix)
{
    const Expression few = net.conv(input, prefix + "conv1");
    Expression far = net.conv(few, prefix + "conv2", {.stride = 2, .padding = 0});
    far = net.let(concat("torch.max_pool2d(", far, ", [7, 7], [3, 3], [0, 0], [1, 1], False)"));
    far = net.conv(far, prefix + "conv3");
    far = net.let(concat("torch.upsample_bilinear2d(", far, ", [", input, ".size(2), ", input,
                         ".size(3)], False, None, None)"));
    const Expression both = net.add(far, net.conv(few, prefix + "conv_f"));
    const Expression mask = net.activate(net.conv(both, prefix + "conv4"), "sigmoid");
    return net.let(concat(input, " * ", mask));
}

Expression group(Net &net, const Expression &input, const std::string &prefix, const Layout &layout)
{
    const std::string blocks = prefix + "residual_layer.";
    const int64_t last = net.weights().count(blocks) - 1;
    Expression x = input;
    for (int64_t i = 0; i < last; i++)
        x = block(net, x, concat(blocks, i, ".layer."), layout);
    x = net.conv(x, concat(blocks, last));
    return surroundings(net, net.add(x, input), prefix + "esa.");
}

Layout layout_of(Net &net, int64_t features)
{
    const std::string table = "residual_layer.0.residual_layer.0.layer.2.fn.rel_pos_bias.weight";
    Layout layout = {.window = {.height = window_without_bias, .width = window_without_bias},
                     .heads = heads_without_bias,
                     .indices = ""};
    if (net.weights().has(table)) {
        const int64_t rows = net.weights().size(table, 0);
        const int64_t side = reconstruction::square_side(net, "rel_pos_bias", rows, 1);
        const int64_t window = (side + 1) / 2;
        layout.window = {.height = window, .width = window};
        layout.heads = net.weights().size(table, 1);
        layout.indices = attention::relative_indices(net, layout.window);
    }
    attention::expect_heads(net, features, layout.heads);
    return layout;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, omnisr.name);
    net.allow_missing(".bias");
    for (const char *end : {".rel_pos_indices", "total_ops", "total_params"})
        net.ignore_ending(end);
    const int64_t channels = weights.size("input.weight", 1);
    const int64_t features = weights.size("input.weight", 0);
    const Layout layout = layout_of(net, features);
    const int64_t scale =
        reconstruction::square_side(net, "up.0", weights.size("up.0.weight", 0), channels);
    const int64_t groups = weights.count("residual_layer.");
    net.report("features", features);
    net.report("groups", groups);
    net.report("window", layout.window.height);

    net.function(padding_function);
    const Expression padded =
        net.let(concat("self.pad_with_black(", Net::input, ", ", layout.window.height, ")"));
    const Expression first = net.conv(padded, "input");
    Expression x = first;
    for (int64_t i = 0; i < groups; i++)
        x = group(net, x, concat("residual_layer.", i, "."), layout);
    x = net.add(net.conv(x, "output"), first);
    x = net.pixel_shuffle(net.conv(x, "up.0"), scale);
    return net.finish(net.crop(x, Net::input, scale), scale, channels, channels);
}

} // namespace
} // namespace omnisr_network

const Architecture omnisr = {
    .name = "OmniSR", .recognises = omnisr_network::recognises, .build = omnisr_network::build};

} // namespace engine_torch
