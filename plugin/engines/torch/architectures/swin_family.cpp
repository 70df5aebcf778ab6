// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "swin_family.h"

#include "base/compose.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// The published networks subtract this from a colour picture: the mean of DIV2K.
const std::vector<float> mean_of_colours = {0.4488F, 0.4371F, 0.4040F};

// A larger scale is a contradiction, and would exhaust memory at the first picture.
constexpr int64_t largest_scale = 16;

int64_t checked_scale(const std::string &name, int64_t outputs, int64_t inputs)
{
    const auto scale =
        inputs > 0 && outputs % inputs == 0 ? whole_root(outputs / inputs) : std::nullopt;
    if (!scale || *scale < 1 || *scale > largest_scale)
        throw WeightFault(concat("has ", name, " with ", outputs, " channels for ", inputs,
                                 ", which is not an integer enlargement"));
    return *scale;
}

// ---- the enlargement: B, C, H, W ------------------------------------------------------

struct Enlarged {
    Expression x;
    int64_t scale = 1;
};

Expression before_upsample(Net &net, const Expression &x)
{
    return net.leaky_relu(net.conv(x, "conv_before_upsample.0"), 0.01);
}

Enlarged in_steps(Net &net, const Expression &x)
{
    Enlarged enlarged = {.x = x, .scale = 1};
    for (int64_t i = 0; net.weights().has(concat("upsample.", i, ".weight")); i += 2) {
        const std::string name = concat("upsample.", i);
        const int64_t scale =
            checked_scale(name + ".weight", net.weights().size(name + ".weight", 0),
                          net.weights().size(name + ".weight", 1));
        enlarged.x = net.pixel_shuffle(net.conv(enlarged.x, name), scale);
        enlarged.scale *= scale;
        if (enlarged.scale > largest_scale)
            throw WeightFault("enlarges more than any network that is known");
    }
    return enlarged;
}

Enlarged by_pixel_shuffle(Net &net, const Expression &features)
{
    Enlarged enlarged = in_steps(net, before_upsample(net, features));
    enlarged.x = net.conv(enlarged.x, "conv_last");
    return enlarged;
}

// Adds the bicubic enlargement to a small picture.  The authors' code gives it the size of the
// unpadded picture.
Enlarged by_small_picture(Net &net, const Expression &features, const Expression &picture)
{
    const Expression small = net.conv(before_upsample(net, features), "conv_aux");
    Enlarged enlarged = in_steps(net, net.leaky_relu(net.conv(small, "conv_after_aux.0"), 0.01));
    const Expression bicubic = net.let(
        concat("torch.upsample_bicubic2d(", picture, ", [", Net::input, ".size(2) * ",
               enlarged.scale, ", ", Net::input, ".size(3) * ", enlarged.scale, "], False)"));
    enlarged.x = net.add(net.crop(enlarged.x, Net::input, enlarged.scale),
                         net.conv(bicubic, "conv_bicubic"));
    enlarged.x = net.conv(enlarged.x, "conv_last");
    return enlarged;
}

Enlarged by_one_pixel_shuffle(Net &net, const Expression &features, int64_t channels)
{
    const int64_t scale =
        checked_scale("upsample.0.weight", net.weights().size("upsample.0.weight", 0), channels);
    return {.x = net.pixel_shuffle(net.conv(features, "upsample.0"), scale), .scale = scale};
}

Enlarged by_neighbours(Net &net, const Expression &features)
{
    Enlarged enlarged = {.x = before_upsample(net, features), .scale = 1};
    for (int64_t i = 1; net.weights().has(concat("conv_up", i, ".weight")); i++) {
        enlarged.x = net.conv(net.enlarge_nearest(enlarged.x, 2), concat("conv_up", i));
        enlarged.x = net.leaky_relu(enlarged.x, 0.2);
        enlarged.scale *= 2;
        if (enlarged.scale > largest_scale)
            throw WeightFault("enlarges more than any network that is known");
    }
    enlarged.x = net.conv(net.leaky_relu(net.conv(enlarged.x, "conv_hr"), 0.2), "conv_last");
    return enlarged;
}

const char *upsampler_of(const Weights &weights)
{
    if (weights.has("conv_aux.weight"))
        return "pixelshuffle_aux";
    if (weights.has("conv_before_upsample.0.weight"))
        return weights.has("conv_up1.weight") ? "nearest+conv" : "pixelshuffle";
    return weights.has("upsample.0.weight") ? "pixelshuffledirect" : "none";
}

Enlarged enlarge(Net &net, const Expression &features, const Expression &picture, int64_t channels)
{
    const std::string_view upsampler = upsampler_of(net.weights());
    net.report("upsampler", std::string(upsampler));
    if (upsampler == "pixelshuffle")
        return by_pixel_shuffle(net, features);
    if (upsampler == "pixelshuffle_aux")
        return by_small_picture(net, features, picture);
    if (upsampler == "nearest+conv")
        return by_neighbours(net, features);
    if (upsampler == "pixelshuffledirect")
        return by_one_pixel_shuffle(net, features, channels);
    return {.x = net.add(picture, net.conv(features, "conv_last")), .scale = 1};
}

// ---- the features ---------------------------------------------------------------------

// Some networks take a bicubic enlargement of the picture, unshuffled into channels.
constexpr const char *first_after_unshuffle = "conv_first.1";

int64_t unshuffle_of(const Net &net)
{
    constexpr int64_t colours = 3;
    return net.weights().has(concat(first_after_unshuffle, ".weight"))
               ? checked_scale(first_after_unshuffle,
                               net.weights().size(concat(first_after_unshuffle, ".weight"), 1),
                               colours)
               : 1;
}

std::string first_of(const Weights &weights)
{
    return weights.has("conv_first.weight") ? "conv_first" : first_after_unshuffle;
}

Expression unshuffled_enlargement(Net &net, const Expression &picture, int64_t factor)
{
    net.report("unshuffle", factor);
    const Expression larger =
        net.let(concat("torch.upsample_bicubic2d(", picture, ", [", picture, ".size(2) * ", factor,
                       ", ", picture, ".size(3) * ", factor, "], False)"));
    return net.pixel_unshuffle(larger, factor);
}

Expression normalised(Net &net, const Expression &x, const std::string &name)
{
    return net.weights().has(name + ".weight") ? net.layer_norm(x, name) : x;
}

// From B, C, H, W to B, C, H, W.
Expression body(Net &net, const Expression &first, const SwinFamily &family)
{
    const bool is_projected = net.weights().has("patch_embed.proj.weight");
    Expression x = channels_last(net, is_projected ? net.conv(first, "patch_embed.proj") : first);
    const int64_t shift = family.window / 2;
    const bool shifts = family.shifts && shift > 0;
    const ShiftMasks masks = shifts ? shift_masks(net, x, family.window, shift) : ShiftMasks();
    x = normalised(net, x, "patch_embed.norm");
    const int64_t layers = net.weights().count("layers.");
    for (int64_t i = 0; i < layers; i++)
        x = family.layer(x, concat("layers.", i, "."), shifts ? &masks : nullptr);
    x = channels_first(net, net.layer_norm(x, "norm"));
    return net.add(residual_convolution(net, x, "conv_after_body"), first);
}

} // namespace

Blueprint build_swin_family(Net &net, const SwinFamily &family)
{
    const int64_t unshuffle = unshuffle_of(net);
    const std::string first_layer = first_of(net.weights());
    const int64_t channels =
        net.weights().size(first_layer + ".weight", 1) / (unshuffle * unshuffle);
    const bool has_mean = channels == static_cast<int64_t>(mean_of_colours.size());
    Expression picture = net.pad_to_multiple(Net::input, family.window);
    const Expression mean = has_mean ? net.numbers({1, channels, 1, 1}, mean_of_colours) : "";
    if (has_mean)
        picture = net.let(concat(picture, " - ", mean));
    if (family.range != 1)
        picture = net.scaled(picture, family.range);

    if (unshuffle != 1)
        picture = unshuffled_enlargement(net, picture, unshuffle);
    const Expression first = net.conv(picture, first_layer);
    Enlarged result = enlarge(net, body(net, first, family), picture, channels);
    if (family.range != 1)
        result.x = net.let(concat(result.x, " / ", literal(family.range)));
    if (has_mean)
        result.x = net.add(result.x, mean);
    if (net.weights().has("conv_last.weight") &&
        net.weights().size("conv_last.weight", 0) != channels)
        throw WeightFault(
            "has conv_last.weight with other channels than the first convolution takes");
    return net.finish(net.crop(result.x, Net::input, result.scale), result.scale, channels,
                      channels);
}

// ---- for the architectures ------------------------------------------------------------

bool shifts_windows(const Weights &weights)
{
    bool has_indices = false;
    for (const auto &[name, weight] : weights.all()) {
        if (name.find(".attn_mask") != std::string::npos)
            return true;
        has_indices = has_indices || name.find("relative_position_index") != std::string::npos;
    }
    return !has_indices;
}

double range_of_window(int64_t window)
{
    constexpr int64_t window_of_jpeg = 7;
    return window == window_of_jpeg ? 255.0 : 1.0;
}

void report_layers(Net &net, const std::string &blocks, const HeadsOf &heads, int64_t window)
{
    std::string depths, head_counts;
    for (int64_t i = 0, layers = net.weights().count("layers."); i < layers; i++) {
        const std::string prefix = concat("layers.", i, ".", blocks);
        dnn_torch::add_to_list(depths, std::to_string(net.weights().count(prefix)), "/");
        dnn_torch::add_to_list(
            head_counts,
            std::to_string(net.weights().size(concat(prefix, "0.", heads.name), heads.dimension)),
            "/");
    }
    net.report("features", net.weights().size(first_of(net.weights()) + ".weight", 0));
    net.report("blocks", depths);
    net.report("heads", head_counts);
    net.report("window", window);
}

Expression residual_convolution(Net &net, const Expression &x, const std::string &name)
{
    if (net.weights().has(name + ".weight"))
        return net.conv(x, name);
    if (!net.weights().has_any(name + "."))
        return x;
    const Expression inner = net.leaky_relu(net.conv(x, name + ".0"), 0.2);
    return net.conv(net.leaky_relu(net.conv(inner, name + ".2"), 0.2), name + ".4");
}

} // namespace engine_torch
