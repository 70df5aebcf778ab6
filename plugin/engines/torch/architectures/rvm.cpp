// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// RobustVideoMatting: finds people's alpha in a smaller frame, with what it remembers of those
// before it, and refines that by the whole one.  It returns what its authors' export does: the
// foreground, the alpha and four states.
#include "architecture.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace rvm_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t levels = 4;
// How much smaller each of them is: half, a quarter ...
using Pyramid = std::array<Expression, levels>;

bool recognises(const Weights &weights)
{
    return weights.has("decoder.decode4.gru.ih.0.weight") || weights.has("project_mat.conv.weight");
}

bool is_mobile(const Weights &weights)
{
    return weights.has("backbone.features.0.0.weight");
}

Expression normalised(Net &net, const Expression &x, const std::string &conv,
                      const std::string &norm, ConvOptions options = {}, double epsilon = 1e-5)
{
    options.has_bias = false;
    return net.batch_norm(net.conv(x, conv, options), norm, conv, epsilon);
}

// A convolution and its norm in one nn.Sequential, from `first` on.
Expression layer(Net &net, const Expression &x, const std::string &block, int64_t first = 0)
{
    return net.activate(
        normalised(net, x, concat(block, ".", first), concat(block, ".", first + 1)), "relu");
}

// ---- MobileNetV3

constexpr int64_t mobile_blocks = 17, first_dilated = 13;
constexpr double mobile_epsilon = 0.001;

int64_t mobile_stride(int64_t block)
{
    return block == 0 || block == 2 || block == 4 || block == 7 ? 2 : 1;
}

const char *mobile_function(int64_t block)
{
    return block == 0 || block >= 7 ? "hardswish" : "relu";
}

Expression squeezed(Net &net, const Expression &x, const std::string &part)
{
    const Expression few = net.activate(net.conv(net.picture_mean(x), part + ".fc1"), "relu");
    return net.multiply(x, net.activate(net.conv(few, part + ".fc2"), "hardsigmoid"));
}

Expression mobile_layer(Net &net, const Expression &x, const std::string &part,
                        const ConvOptions &options = {})
{
    return normalised(net, x, part + ".0", part + ".1", options, mobile_epsilon);
}

// Makes more channels, unless the block is the first, looks around in each, and makes fewer.
Expression inverted_residual(Net &net, const Expression &x, int64_t block)
{
    const Weights &weights = net.weights();
    const std::string parts = concat("backbone.features.", block, ".block.");
    int64_t next = 0;
    const auto part = [&] { return concat(parts, next++); };
    Expression made = x;
    if (block > 1)
        made = net.activate(mobile_layer(net, made, part()), mobile_function(block));
    const std::string around = part();
    const ConvOptions options = {.stride = mobile_stride(block),
                                 .dilation = block >= first_dilated ? 2 : 1,
                                 .groups = weights.size(around + ".0.weight", 0)};
    made = net.activate(mobile_layer(net, made, around, options), mobile_function(block));
    if (weights.has(concat(parts, next, ".fc1.weight")))
        made = squeezed(net, made, part());
    const std::string last = part();
    made = mobile_layer(net, made, last);
    const bool changes = mobile_stride(block) != 1 || block == first_dilated ||
                         weights.size(last + ".0.weight", 0) !=
                             weights.size(concat(parts, "0.0.weight"), block > 1 ? 1 : 0);
    return changes ? made : net.add(made, x);
}

Pyramid mobile_features(Net &net, const Expression &picture)
{
    const Expression mean = net.numbers({1, 3, 1, 1}, {0.485F, 0.456F, 0.406F}),
                     deviation = net.numbers({1, 3, 1, 1}, {0.229F, 0.224F, 0.225F});
    Expression x = net.let(concat("(", picture, " - ", mean, ") / ", deviation));
    const auto plain = [&](int64_t block) {
        x = net.activate(mobile_layer(net, x, concat("backbone.features.", block),
                                      {.stride = mobile_stride(block)}),
                         mobile_function(block));
    };
    Pyramid made;
    plain(0);
    for (int64_t block = 1; block < mobile_blocks - 1; block++) {
        x = inverted_residual(net, x, block);
        if (block == 1 || block == 3 || block == 6)
            made[static_cast<size_t>(block / 3)] = x;
    }
    plain(mobile_blocks - 1);
    made[3] = x;
    return made;
}

// ---- ResNet-50

Expression bottleneck(Net &net, const Expression &x, const std::string &block,
                      const ConvOptions &options)
{
    const auto part = [&](const Expression &given, int number, const ConvOptions &how = {}) {
        return normalised(net, given, concat(block, ".conv", number), concat(block, ".bn", number),
                          how);
    };
    const Expression few = net.activate(part(x, 1), "relu");
    const Expression made = part(net.activate(part(few, 2, options), "relu"), 3);
    const std::string shortcut = block + ".downsample";
    if (!net.weights().has(shortcut + ".0.weight"))
        return net.activate(net.add(made, x), "relu");
    const Expression kept =
        normalised(net, x, shortcut + ".0", shortcut + ".1", {.stride = options.stride});
    return net.activate(net.add(made, kept), "relu");
}

Pyramid deep_features(Net &net, const Expression &x)
{
    constexpr int64_t last = 4;
    const Expression first =
        net.activate(normalised(net, x, "backbone.conv1", "backbone.bn1", {.stride = 2}), "relu");
    Pyramid made = {first};
    Expression at =
        net.let(concat("torch.max_pool2d(", first, ", [3, 3], [2, 2], [1, 1], [1, 1], False)"));
    for (int64_t stage = 1; stage <= last; stage++) {
        for (int64_t i = 0;; i++) {
            const std::string block = concat("backbone.layer", stage, ".", i);
            if (i > 0 && !net.weights().has(block + ".conv1.weight"))
                break;
            const bool is_smaller = i == 0 && (stage == 2 || stage == 3);
            at = bottleneck(
                net, at, block,
                {.stride = is_smaller ? 2 : 1, .dilation = stage == last && i > 0 ? 2 : 1});
        }
        made[static_cast<size_t>(std::min<int64_t>(stage, last - 1))] = at;
    }
    return made;
}

// ---- the decoder

// A gated recurrent unit of convolutions.  Its result is the state for the next frame, too.
Expression remembered(Net &net, const Expression &x, const std::string &unit, int64_t level,
                      int64_t channels)
{
    constexpr int64_t first_output = 1;
    const Expression before =
        net.state(concat("r", level), first_output + level, concat("torch.zeros_like(", x, ")"));
    const Expression gates =
        net.activate(net.conv(net.cat({x, before}), unit + ".ih.0"), "sigmoid");
    const Expression kept = net.multiply(net.channels(gates, 0, channels), before);
    const Expression fresh = net.activate(net.conv(net.cat({x, kept}), unit + ".hh.0"), "tanh");
    const Expression update = net.channels(gates, channels, 2 * channels);
    return net.let(concat("(1.0 - ", update, ") * ", before, " + ", update, " * ", fresh));
}

// Half of the channels go through the unit.
Expression half_remembered(Net &net, const Expression &x, int64_t level, Pyramid &states)
{
    const std::string unit = concat("decoder.decode", level, ".gru");
    const int64_t half = net.weights().size(unit + ".hh.0.weight", 0);
    const Expression now = net.channels(x, half, 2 * half);
    Expression &state = states[static_cast<size_t>(level - 1)];
    state = remembered(net, now, unit, level, half);
    return net.cat({net.channels(x, 0, half), state});
}

Expression enlarged_as(Net &net, const Expression &x, const Expression &picture)
{
    return net.crop(net.enlarge_bilinear(x, 2), picture, 1);
}

struct Decoded {
    Expression features;
    Pyramid states;
};

Decoded decode(Net &net, const Expression &picture, const Pyramid &features)
{
    Pyramid smaller = {picture};
    for (size_t i = 1; i < smaller.size(); i++)
        smaller[i] = net.let(
            concat("torch.avg_pool2d(", smaller[i - 1], ", [2, 2], [2, 2], [0, 0], True, False)"));
    Decoded made;
    Expression x = half_remembered(net, features[3], levels, made.states);
    for (int64_t level = levels - 1; level > 0; level--) {
        const auto place = static_cast<size_t>(level);
        const Expression &beside = smaller[place];
        x = net.cat({enlarged_as(net, x, beside), features[place - 1], beside});
        x = layer(net, x, concat("decoder.decode", level, ".conv"));
        x = half_remembered(net, x, level, made.states);
    }
    x = net.cat({enlarged_as(net, x, picture), picture});
    made.features = layer(net, layer(net, x, "decoder.decode0.conv"), "decoder.decode0.conv", 3);
    return made;
}

// ---- the refiner, a guided filter whose gain a small network finds

Expression with_mean(Net &net, const Expression &picture)
{
    return net.cat({picture, net.let(concat("torch.mean(", picture, ", [1], True)"))});
}

Expression refined(Net &net, const Expression &picture, const Expression &small,
                   const Expression &found, const Expression &features)
{
    const auto blurred = [&](const Expression &x) {
        return net.conv(x, "refiner.box_filter", {.groups = 4, .has_bias = false});
    };
    const Expression x = with_mean(net, small);
    const Expression mean_x = blurred(x), mean_y = blurred(found);
    const auto covariance = [&](const Expression &other, const Expression &mean) {
        return net.let(concat(blurred(net.multiply(x, other)), " - ", net.multiply(mean_x, mean)));
    };
    const Expression both = covariance(found, mean_y), own = covariance(x, mean_x);
    const Expression first = layer(net, net.cat({both, own, features}), "refiner.conv");
    const Expression gain = net.conv(layer(net, first, "refiner.conv", 3), "refiner.conv.6");
    const Expression offset = net.let(concat(mean_y, " - ", gain, " * ", mean_x));
    const auto large = [&](const Expression &of) {
        return concat("torch.upsample_bilinear2d(", of, ", [", picture, ".size(2), ", picture,
                      ".size(3)], False)");
    };
    return net.let(concat(large(gain), " * ", with_mean(net, picture), " + ", large(offset)));
}

// The segmentation of people, which the authors trained along with the matting, is not run.
void ignore_segmentation(Net &net)
{
    for (const char *name : {"project_seg.conv.weight", "project_seg.conv.bias"}) {
        static_cast<void>(net.weights().at(name));
        net.ignore(name);
    }
}

constexpr char smaller_function[] = R"(
def made_smaller(self, x, ratio: float):
    if ratio == 1.0:
        return x
    return torch.upsample_bilinear2d(x, None, False, [ratio, ratio])
)";

Blueprint build(const Weights &weights)
{
    Net net(weights, rvm.name);
    net.report("backbone", is_mobile(weights) ? "mobilenetv3" : "resnet50");
    net.make_alpha();
    net.mark_nonlocal();
    net.function(smaller_function);
    ignore_segmentation(net);
    const Expression small =
        net.let(concat("self.made_smaller(", Net::input, ", downsample_ratio)"));
    Pyramid features = is_mobile(weights) ? mobile_features(net, small) : deep_features(net, small);
    const Expression weight = net.activate(
        net.conv(net.picture_mean(features[3]), "aspp.aspp2.1", {.has_bias = false}), "sigmoid");
    features[3] = net.multiply(layer(net, features[3], "aspp.aspp1"), weight);
    const Decoded decoded = decode(net, small, features);
    const Expression found = net.conv(decoded.features, "project_mat.conv");
    net.begin("downsample_ratio != 1.0");
    net.line(concat(found, " = ", refined(net, Net::input, small, found, decoded.features)));
    net.end();
    net.argument("downsample_ratio: float = 1.0");
    const Expression foreground =
        net.let(concat("torch.clamp(", found, "[:, :3] + ", Net::input, ", 0.0, 1.0)"));
    const Expression alpha = net.let(concat("torch.clamp(", found, "[:, 3:4], 0.0, 1.0)"));
    return net.finish(concat(foreground, ", ", alpha, ", ", dnn_torch::joined(decoded.states)), 1,
                      3, 3);
}

} // namespace
} // namespace rvm_network

const Architecture rvm = {.name = "RobustVideoMatting",
                          .recognises = rvm_network::recognises,
                          .build = rvm_network::build};

} // namespace engine_torch
