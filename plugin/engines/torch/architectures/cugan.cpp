// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Real-CUGAN: two U-nets in sequence; the first one enlarges.
//
// No convolution is padded: the picture is padded first, and each layer crops some of that border.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace cugan_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.1;

// Pads to a multiple, then by `border` on each side: reflects as far as possible, and repeats the
// border pixel beyond.
constexpr char border_function[] = R"(
def with_border(self, x, border: int, multiple: int):
    down = border + (multiple - x.size(2) % multiple) % multiple
    right = border + (multiple - x.size(3) % multiple) % multiple
    height, width = x.size(2) - 1, x.size(3) - 1
    most = min(border, width)
    x = torch.reflection_pad2d(x, [most, min(right, width), min(border, height), min(down, height)])
    return torch.replication_pad2d(x, [border - most, right - min(right, width),
                                       border - min(border, height), down - min(down, height)])
)";

struct Variant {
    int64_t scale, border, multiple, enlarged; // `enlarged`: by unet1
    bool is_fast;                              // treats each square of pixels as channels
    bool has_final;                            // a convolution adds to the enlarged input
};

Variant variant_of(const Net &net)
{
    const Weights &weights = net.weights();
    const bool has_final = weights.has("conv_final.weight");
    const int64_t channels = weights.size("unet1.conv1.conv.0.weight", 1);
    const int64_t kernel = weights.size("unet1.conv_bottom.weight", 2);
    if (has_final && channels == 12)
        return {2, 38, 4, 2, true, true};
    if (has_final)
        return {4, 19, 2, 2, false, true};
    if (kernel == 5)
        return {3, 14, 4, 3, false, false};
    if (kernel == 4)
        return {2, 18, 2, 2, false, false};
    net.contradict(concat("unet1.conv_bottom has a kernel of ", kernel));
}

Expression valid_conv(Net &net, const Expression &x, const std::string &name, int64_t stride = 1)
{
    return net.conv(x, name, {.stride = stride, .padding = 0});
}

Expression cut(Net &net, const Expression &x, int64_t border)
{
    return net.let(concat(x, "[:, :, ", border, ":-", border, ", ", border, ":-", border, "]"));
}

// Two convolutions, and a weight per channel.
Expression double_conv(Net &net, const Expression &input, const std::string &name)
{
    Expression x = net.leaky_relu(valid_conv(net, input, name + ".conv.0"), slope);
    x = net.leaky_relu(valid_conv(net, x, name + ".conv.2"), slope);
    const std::string attention = name + ".seblock";
    if (!net.weights().has(attention + ".conv1.weight"))
        return x;
    Expression weight = net.conv(net.picture_mean(x), attention + ".conv1");
    weight = net.conv(net.activate(weight, "relu"), attention + ".conv2");
    return net.multiply(x, net.activate(weight, "sigmoid"));
}

Expression halved(Net &net, const Expression &x, const std::string &name)
{
    return net.leaky_relu(valid_conv(net, x, name, 2), slope);
}

Expression doubled(Net &net, const Expression &x, const std::string &name)
{
    return net.leaky_relu(net.conv_transpose(x, name, 2, 0), slope);
}

Expression first_net(Net &net, const Expression &input, const Variant &variant)
{
    const Expression wide = double_conv(net, input, "unet1.conv1");
    Expression x = double_conv(net, halved(net, wide, "unet1.conv1_down"), "unet1.conv2");
    x = net.add(cut(net, wide, 4), doubled(net, x, "unet1.conv2_up"));
    x = net.leaky_relu(valid_conv(net, x, "unet1.conv3"), slope);
    const int64_t padding = variant.enlarged == 3 ? 2 : 3;
    return net.conv_transpose(x, "unet1.conv_bottom", variant.enlarged, padding);
}

Expression second_net(Net &net, const Expression &input)
{
    const Expression wide = double_conv(net, input, "unet2.conv1");
    const Expression half = double_conv(net, halved(net, wide, "unet2.conv1_down"), "unet2.conv2");
    Expression x = double_conv(net, halved(net, half, "unet2.conv2_down"), "unet2.conv3");
    x = net.add(cut(net, half, 4), doubled(net, x, "unet2.conv3_up"));
    x = doubled(net, double_conv(net, x, "unet2.conv4"), "unet2.conv4_up");
    x = net.leaky_relu(valid_conv(net, net.add(cut(net, wide, 16), x), "unet2.conv5"), slope);
    return valid_conv(net, x, "unet2.conv_bottom");
}

Expression both_nets(Net &net, const Expression &input, const Variant &variant)
{
    net.function(border_function);
    Expression x = net.let(
        concat("self.with_border(", input, ", ", variant.border, ", ", variant.multiple, ")"));
    if (variant.is_fast)
        x = net.pixel_unshuffle(x, 2);
    const Expression first = first_net(net, x, variant);
    x = net.add(second_net(net, first), cut(net, first, 20));
    if (variant.has_final)
        x = net.pixel_shuffle(cut(net, valid_conv(net, x, "conv_final"), 1), 2);
    x = net.crop(x, input, variant.scale);
    return variant.has_final ? net.add(x, net.enlarge_nearest(input, variant.scale)) : x;
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"unet1.conv1.conv.0.weight", "unet1.conv_bottom.weight",
                            "unet2.conv1.conv.0.weight", "unet2.conv_bottom.weight",
                            "unet2.conv4_up.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, cugan.name);
    const Variant variant = variant_of(net);
    const bool is_pro = weights.has("pro"); // trained with a smaller range
    net.ignore("pro");
    net.report("variant", is_pro ? "pro" : variant.is_fast ? "fast" : "standard");
    const int64_t in_channels =
        weights.size("unet1.conv1.conv.0.weight", 1) / (variant.is_fast ? 4 : 1);
    const int64_t out_channels = variant.has_final ? weights.size("conv_final.weight", 0) / 4
                                                   : weights.size("unet2.conv_bottom.weight", 0);
    Expression x = is_pro ? net.let("x * 0.7 + 0.15") : Expression(Net::input);
    x = both_nets(net, x, variant);
    if (is_pro)
        x = net.let(concat("(", x, " - 0.15) / 0.7"));
    return net.finish(x, variant.scale, in_channels, out_channels);
}

} // namespace
} // namespace cugan_network

const Architecture cugan = {
    .name = "Real-CUGAN", .recognises = cugan_network::recognises, .build = cugan_network::build};

} // namespace engine_torch
