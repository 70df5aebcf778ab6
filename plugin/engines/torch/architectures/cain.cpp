// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// CAIN: makes the frame in the middle of two, without an optical flow.  Groups of residual blocks
// with attention over the channels see both frames in eighths of their size.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace cain_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t colours = 3, multiple = 128;
constexpr double slope = 0.2;
constexpr const char *prefix = "encoder.interpolate.";

bool recognises(const Weights &weights)
{
    return weights.has_all({"encoder.interpolate.headConv.weight",
                            "encoder.interpolate.tailConv.weight",
                            "encoder.interpolate.body.0.body.0.body.0.conv.weight"});
}

// Convolutions of a block see the picture reflected beyond its border.
Expression layer(Net &net, const Expression &x, const std::string &name)
{
    const int64_t border = net.weights().size(name + ".conv.weight", 2) / 2;
    const Expression wide = net.let(concat("torch.reflection_pad2d(", x, ", [", border, ", ",
                                           border, ", ", border, ", ", border, "])"));
    return net.conv(wide, name + ".conv", {.padding = 0});
}

// The model is published without attention, too.
Expression block(Net &net, const Expression &before, const std::string &name)
{
    Expression x = layer(net, net.leaky_relu(layer(net, before, name + "0"), slope), name + "2");
    if (const std::string attention = name + "3.conv_du."; net.weights().has_any(attention)) {
        const Expression few = net.activate(net.conv(net.picture_mean(x), attention + "0"), "relu");
        x = net.multiply(x, net.activate(net.conv(few, attention + "2"), "sigmoid"));
    }
    return net.add(x, before);
}

Expression group(Net &net, const Expression &before, const std::string &name)
{
    const int64_t blocks = net.weights().count(name) - 1;
    Expression x = before;
    for (int64_t i = 0; i < blocks; i++)
        x = block(net, x, concat(name, i, ".body."));
    return net.add(layer(net, x, concat(name, blocks)), before);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, cain.name);
    const std::string body = concat(prefix, "body.");
    const int64_t features = weights.size(concat(prefix, "tailConv.weight"), 0),
                  groups = weights.count(body),
                  factor = net.shuffle_factor(concat(prefix, "tailConv"), colours);
    net.report("features", features);
    net.report("groups", groups);
    net.report("blocks", weights.count(concat(body, "0.body.")) - 1);
    net.make_between();
    net.mark_nonlocal();
    net.take_frames(0, 1, "repeat");
    const Expression mean = net.picture_mean(Net::input);
    const Expression border = net.border_around(Net::input, std::to_string(multiple));
    const Expression all =
        net.pad_around(net.let(concat(Net::input, " - ", mean)), border, "reflect");
    const Expression first = net.conv(net.pixel_unshuffle(all, factor), concat(prefix, "headConv"));
    Expression x = first;
    for (int64_t i = 0; i < groups; i++)
        x = group(net, x, concat(body, i, ".body."));
    x = net.conv(net.add(x, first), concat(prefix, "tailConv"));
    const Expression made = net.crop_around(net.pixel_shuffle(x, factor), Net::input, border);
    const Expression middle =
        net.let(concat("(", mean, "[:, :", colours, "] + ", mean, "[:, ", colours, ":]) / 2.0"));
    return net.finish(net.add(made, middle), 1, 2 * colours, colours);
}

} // namespace
} // namespace cain_network

const Architecture cain = {
    .name = "CAIN", .recognises = cain_network::recognises, .build = cain_network::build};

} // namespace engine_torch
