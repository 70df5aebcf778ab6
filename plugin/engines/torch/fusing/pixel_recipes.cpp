// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "node_constants.h"
#include "recipe_call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{
namespace
{

using fused::Pair;
using torch::jit::Node;
using torch::jit::Value;

bool is_channel_axis(std::optional<int64_t> axis)
{
    return axis == 1 || axis == -3;
}

// cat(list, axis)
MaybeRecipe concatenate(const Call &call)
{
    const auto *const list = call.input(0)->node();
    if (list->kind() != c10::prim::ListConstruct || !stays_as_made(call.input(0)) ||
        !is_channel_axis(whole_constant(call.input(1))))
        return std::nullopt;
    Recipe recipe;
    std::vector<Recipe::Operand> operands;
    for (const Value *part : list->inputs()) {
        if (!call.channels.of(part))
            return std::nullopt;
        recipe.pictures.push_back(part);
        operands.push_back({part});
    }
    if (operands.empty())
        return std::nullopt;
    recipe.steps.push_back({fused::Concatenation(), operands});
    return recipe;
}

MaybeRecipe some_channels(const Value *picture, int64_t channels, int64_t first, int64_t end)
{
    first = std::clamp<int64_t>(first < 0 ? first + channels : first, 0, channels);
    end = std::clamp<int64_t>(end < 0 ? end + channels : end, 0, channels);
    if (first >= end)
        return std::nullopt;
    auto made = step_of(picture, fused::Slice{first, end - first});
    made->is_view = true;
    return made;
}

// slice(input, axis, start, end, step)
MaybeRecipe slice(const Call &call)
{
    const auto axis = whole_constant(call.input(1));
    const auto start = number_or(call.input(2), 0);
    const auto end = number_or(call.input(3), static_cast<double>(INT64_MAX));
    if (!call.is_picture(0) || !axis || !start || !end || whole_constant(call.input(4)) != 1)
        return std::nullopt;
    const bool is_all = *start == 0 && *end >= static_cast<double>(INT32_MAX);
    if (is_all)
        return same(call);
    if (!is_channel_axis(axis) || std::abs(*start) > 1e9)
        return std::nullopt;
    return some_channels(call.input(0), call.channels_of(0), static_cast<int64_t>(*start),
                         static_cast<int64_t>(std::min(*end, 1e9)));
}

// The sizes of the parts that chunk(input, count, axis), split(input, size, axis) and
// split_with_sizes(input, sizes, axis) make, or none.
std::vector<int64_t> parts_of(const Node &node, int64_t channels)
{
    std::vector<int64_t> parts;
    if (node.inputs().size() < 3 || !is_channel_axis(whole_constant(node.input(2))))
        return parts;
    if (const auto sizes = whole_list_constant(node.input(1)))
        return std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) == channels ? *sizes
                                                                                     : parts;
    const auto number = whole_constant(node.input(1));
    if (!number || *number < 1)
        return parts;
    const bool counts = node.kind() == c10::Symbol::aten("chunk");
    const int64_t count = std::min(*number, channels);
    const int64_t each = counts ? (channels + count - 1) / count : count;
    for (int64_t left = channels; left > 0; left -= each)
        parts.push_back(std::min(each, left));
    return parts;
}

MaybeRecipe part(const Node &splitting, int64_t place, const Channels &channels)
{
    static const std::vector<std::string> known = {"chunk", "split", "split_with_sizes"};
    const bool is_known =
        splitting.kind().is_aten() &&
        std::find(known.begin(), known.end(), splitting.kind().toUnqualString()) != known.end();
    if (!is_known || !channels.of(splitting.input(0)) || !stays_as_made(splitting.output()))
        return std::nullopt;
    const Value *const picture = splitting.input(0);
    const std::vector<int64_t> parts = parts_of(splitting, channels.of(picture));
    const auto count = static_cast<int64_t>(parts.size());
    if (place < 0)
        place += count;
    if (place < 0 || place >= count || parts[static_cast<size_t>(place)] < 1)
        return std::nullopt;
    const int64_t first = std::accumulate(parts.begin(), parts.begin() + place, int64_t{0});
    return some_channels(picture, channels.of(picture), first,
                         first + parts[static_cast<size_t>(place)]);
}

template <class Shuffle> MaybeRecipe shuffle(const Call &call)
{
    const auto factor = whole_constant(call.input(1));
    if (!factor || *factor < 1 || *factor > most_factor)
        return std::nullopt;
    return pointwise(call, Shuffle{*factor});
}

// Whole factors for height and width, or nullopt.
std::optional<Pair> factors(const Value *size, const Value *scales)
{
    const auto list = number_list_constant(scales);
    if (!is_none(size) || !list || list->size() != 2)
        return std::nullopt;
    for (const double factor : *list)
        if (!(factor >= 1 && factor <= most_factor))
            return std::nullopt;
    const Pair made = {static_cast<int64_t>((*list)[0]), static_cast<int64_t>((*list)[1])};
    const bool are_whole =
        static_cast<double>(made.y) == (*list)[0] && static_cast<double>(made.x) == (*list)[1];
    return are_whole ? std::optional(made) : std::nullopt;
}

// upsample_nearest2d(input, size, scales)
MaybeRecipe nearest(const Call &call)
{
    const auto factor = call.count() == 3 ? factors(call.input(1), call.input(2)) : std::nullopt;
    if (!factor)
        return std::nullopt;
    return pointwise(call, fused::Interpolation{fused::InterpolationKind::nearest, *factor});
}

// upsample_bilinear2d(input, size, align_corners, scales)
MaybeRecipe bilinear(const Call &call)
{
    const auto factor = call.count() == 4 ? factors(call.input(1), call.input(3)) : std::nullopt;
    if (!factor || truth_constant(call.input(2)) != false)
        return std::nullopt;
    return pointwise(call, fused::Interpolation{fused::InterpolationKind::bilinear, *factor});
}

// [left, right, top, bottom], of which the last two may be missing.
MaybeRecipe constants_around(const Call &call, const std::optional<double> &value)
{
    auto sizes = whole_list_constant(call.input(1));
    if (!sizes || !value || (sizes->size() != 2 && sizes->size() != 4))
        return std::nullopt;
    sizes->resize(4);
    if (std::any_of(sizes->begin(), sizes->end(),
                    [](int64_t size) { return size < 0 || size > most_pixels; }))
        return std::nullopt;
    return pointwise(call, fused::Padding{(*sizes)[2], (*sizes)[3], (*sizes)[0], (*sizes)[1],
                                          static_cast<float>(*value)});
}

// pad(input, sizes, mode, value)
MaybeRecipe pad(const Call &call)
{
    if (word_constant(call.input(2)) != "constant")
        return std::nullopt;
    return constants_around(call, number_or(call.input(3), 0));
}

MaybeRecipe dropout(const Call &call)
{
    return truth_constant(call.input(2)) == false ? same(call) : std::nullopt;
}

} // namespace

MaybeRecipe part_at(const Call &call)
{
    const auto place = whole_constant(call.input(1));
    return place ? part(*call.input(0)->node(), *place, call.channels) : std::nullopt;
}

MaybeRecipe unpacked_part(const Call &call)
{
    return part(*call.input(0)->node(), static_cast<int64_t>(call.output.offset()), call.channels);
}

MaybeRecipe chunk_part(const Call &call)
{
    const int64_t channels = call.channels_of(0);
    const int64_t count = std::min(call.node.i(c10::attr::chunks), channels);
    if (!is_channel_axis(call.node.i(c10::attr::dim)) || count < 1)
        return std::nullopt;
    const int64_t each = (channels + count - 1) / count;
    const auto place = static_cast<int64_t>(call.output.offset());
    return some_channels(call.input(0), channels, place * each,
                         std::min(channels, (place + 1) * each));
}

const RecipeReaders &pixel_readers()
{
    static const RecipeReaders readers = {
        {"_upsample_nearest_exact2d", nearest}, // the same for whole factors
        {"cat", concatenate},
        {"constant_pad_nd",
         [](const Call &call) { return constants_around(call, number_or(call.input(2), 0)); }},
        {"contiguous", same},
        {"detach", same},
        {"dropout", dropout},
        {"feature_dropout", dropout},
        {"pad", pad},
        {"pixel_shuffle", shuffle<fused::PixelShuffle>},
        {"pixel_unshuffle", shuffle<fused::PixelUnshuffle>},
        {"slice", slice},
        {"upsample_bilinear2d", bilinear},
        {"upsample_nearest2d", nearest},
    };
    return readers;
}

} // namespace engine_torch
