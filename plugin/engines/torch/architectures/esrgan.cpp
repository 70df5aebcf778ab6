// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ESRGAN: RRDBNet, also called RealSR, BSRGAN and Real-ESRGAN.
//
// The same layers are published under three sets of names.  The oldest are indices in a Sequential:
//
//     model.0                          first convolution
//     model.1.sub.N.RDB1.conv1.0       dense blocks, three in each of N
//     model.1.sub.COUNT                convolution after the blocks
//     model.3, model.6, ...            one before each enlargement; more to enlarge more
//     the last two                     "HR" and last convolution
#include "architecture.h"
#include "dense_blocks.h"

#include "base/compose.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace engine_torch
{
namespace esrgan_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.2;
constexpr int64_t most_enlargements = 6;
constexpr int64_t largest_scale = 64;

struct Enlargement {
    std::string layer;
    bool shuffles = false; // otherwise the picture is enlarged before the layer
};

// The names of the layers.
struct Layout {
    std::string first, blocks, dense, last_of_block, after_blocks, fine, last;
    int64_t block_count = 0;
    int64_t enlarging_factor = 2;
    std::vector<Enlargement> enlargements;
};

// Returns the last N for which there is "model.N.weight".
int64_t last_place(const Weights &weights)
{
    int64_t last = 0;
    for (const auto &[name, weight] : weights.all()) {
        int64_t place = 0;
        if (name.compare(0, 6, "model.") != 0)
            continue;
        const char *end = name.data() + name.size();
        const auto rest = std::from_chars(name.data() + 6, end, place);
        if (rest.ec == std::errc() && std::string_view(rest.ptr, end - rest.ptr) == ".weight")
            last = std::max(last, place);
    }
    return last;
}

// Each enlargement takes three indices: the convolution is the second one, after the enlarging
// layer, or the first one, before a pixel shuffle.
Layout layout_of_places(const Net &net)
{
    const Weights &weights = net.weights();
    const int64_t last = last_place(weights);
    Layout layout = {.first = "model.0",
                     .blocks = "model.1.sub.",
                     .dense = ".RDB",
                     .last_of_block = ".0",
                     .after_blocks = "",
                     .fine = concat("model.", last - 2),
                     .last = concat("model.", last),
                     .block_count = weights.count("model.1.sub.") - 1,
                     .enlarging_factor = 2,
                     .enlargements = {}};
    layout.after_blocks = concat(layout.blocks, layout.block_count);
    if (last > 4 + 3 * most_enlargements || last < 4 || (last - 4) % 3 != 0)
        net.contradict(concat("its last layer is ", layout.last));
    for (int64_t place = 2; place < last - 2; place += 3) {
        const bool shuffles = weights.has(concat("model.", place, ".weight"));
        layout.enlargements.push_back(
            {.layer = concat("model.", shuffles ? place : place + 1), .shuffles = shuffles});
    }
    // A single enlargement by 3 has the same weights as one by 2.
    if (layout.enlargements.size() == 1 && weights.named_scale() == 3)
        layout.enlarging_factor = 3;
    return layout;
}

Layout layout_of_names(const Weights &weights)
{
    const bool is_old = weights.has_any("RRDB_trunk.");
    const auto either = [&](const char *one, const char *other) {
        return weights.has_any(std::string(one) + ".") ? one : other;
    };
    Layout layout = {.first = "conv_first",
                     .blocks = is_old ? "RRDB_trunk." : "body.",
                     .dense = is_old ? ".RDB" : ".rdb",
                     .last_of_block = "",
                     .after_blocks = either("trunk_conv", "conv_body"),
                     .fine = either("HRconv", "conv_hr"),
                     .last = "conv_last",
                     .block_count = 0,
                     .enlarging_factor = 2,
                     .enlargements = {}};
    layout.block_count = weights.count(layout.blocks);
    const char *prefix = either("upconv1", "conv_up1");
    const std::string name(prefix, std::char_traits<char>::length(prefix) - 1);
    for (int64_t i = 1; weights.has(concat(name, i, ".weight")) && i <= most_enlargements; i++)
        layout.enlargements.push_back({.layer = concat(name, i), .shuffles = false});
    return layout;
}

Expression body(Net &net, const Expression &first, const Layout &layout)
{
    Expression x = first;
    for (int64_t i = 0; i < layout.block_count; i++)
        x = residual_dense_blocks(net, x, concat(layout.blocks, i, layout.dense),
                                  layout.last_of_block);
    return net.add(first, net.conv(x, layout.after_blocks));
}

Expression enlarged(Net &net, Expression x, const Layout &layout, int64_t &scale)
{
    for (const Enlargement &step : layout.enlargements) {
        int64_t factor = layout.enlarging_factor;
        if (step.shuffles) {
            factor = net.shuffle_factor(step.layer, net.weights().size(step.layer + ".weight", 1));
            x = net.pixel_shuffle(net.conv(x, step.layer), factor);
        } else {
            x = net.conv(net.enlarge_nearest(x, factor), step.layer);
        }
        x = net.leaky_relu(x, slope);
        scale *= factor;
        if (scale > largest_scale)
            net.contradict(concat("enlarges more than ", largest_scale, " times"));
    }
    return x;
}

// Networks of small scales turn each square of pixels into channels, to process fewer pixels.
int64_t unshuffle_of(int64_t in_channels, int64_t out_channels)
{
    for (const int64_t factor : {2, 4})
        if (out_channels > 0 && in_channels % (factor * factor) == 0 &&
            in_channels / (factor * factor) == out_channels)
            return factor;
    return 1;
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"model.0.weight", "model.1.sub.0.RDB1.conv1.0.weight"}) ||
           (weights.has_all({"conv_first.weight", "conv_last.weight"}) &&
            (weights.has("RRDB_trunk.0.RDB1.conv1.weight") ||
             weights.has("body.0.rdb1.conv1.weight")));
}

Blueprint build(const Weights &weights)
{
    Net net(weights, esrgan.name);
    net.allow_missing("conv1x1.bias");
    const Layout layout =
        weights.has("model.0.weight") ? layout_of_places(net) : layout_of_names(weights);
    const int64_t in_channels = weights.size(layout.first + ".weight", 1);
    const int64_t out_channels = weights.size(layout.last + ".weight", 0);
    const int64_t unshuffle = unshuffle_of(in_channels, out_channels);
    net.report("features", weights.size(layout.first + ".weight", 0));
    net.report("blocks", layout.block_count);
    if (unshuffle > 1)
        net.report("unshuffle", unshuffle);
    if (weights.has(concat(layout.blocks, "0", layout.dense, "1.conv1x1.weight")))
        net.report("variant", "ESRGAN+");

    Expression x = net.pad_to_multiple(Net::input, unshuffle);
    if (unshuffle > 1)
        x = net.pixel_unshuffle(x, unshuffle);
    x = body(net, net.conv(x, layout.first), layout);
    int64_t scale = 1;
    x = enlarged(net, x, layout, scale);
    x = net.conv(net.leaky_relu(net.conv(x, layout.fine), slope), layout.last);
    if (scale % unshuffle != 0)
        net.contradict(concat("its enlargement by ", scale,
                              " is not a multiple of its unshuffle by ", unshuffle));
    scale /= unshuffle;
    if (unshuffle > 1)
        x = net.crop(x, Net::input, scale);
    return net.finish(x, scale, in_channels / (unshuffle * unshuffle), out_channels);
}

} // namespace
} // namespace esrgan_network

const Architecture esrgan = {
    .name = "ESRGAN", .recognises = esrgan_network::recognises, .build = esrgan_network::build};

} // namespace engine_torch
