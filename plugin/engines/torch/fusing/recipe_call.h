// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the sources of recipes share.
#pragma once

#include "recipe.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace engine_torch
{

using MaybeRecipe = std::optional<Recipe>;

// Larger numbers make no sense, and their products would overflow.
constexpr int64_t most_pixels = 1 << 16, most_factor = 64;

// A node whose value is asked for, and what is known of its inputs.
struct Call {
    const torch::jit::Node &node;
    const torch::jit::Value &output;
    const Channels &channels;

    size_t count() const { return node.inputs().size(); }
    const torch::jit::Value *input(size_t i) const { return i < count() ? node.input(i) : nullptr; }
    bool is_picture(size_t i) const { return i < count() && channels.of(input(i)) > 0; }
    int64_t channels_of(size_t i) const { return channels.of(input(i)); }
};

inline MaybeRecipe step_of(const torch::jit::Value *picture, fused::Operation operation)
{
    return Recipe{{picture}, {{std::move(operation), {{picture}}}}};
}

// For operators that return their one picture unchanged.
inline MaybeRecipe same(const Call &call)
{
    return call.is_picture(0) ? MaybeRecipe({{call.input(0)}, {}, true}) : std::nullopt;
}

inline MaybeRecipe pointwise(const Call &call, fused::Operation operation)
{
    return call.is_picture(0) ? step_of(call.input(0), std::move(operation)) : std::nullopt;
}

// Operators by their names, without "aten::".
using RecipeReaders = std::map<std::string, MaybeRecipe (*)(const Call &)>;
const RecipeReaders &convolution_readers();
const RecipeReaders &sample_readers(); // sample by sample
const RecipeReaders &pixel_readers();  // channels and pixels are moved

// For elements of lists, which ListUnpack, __getitem__ and ConstantChunk return.
MaybeRecipe unpacked_part(const Call &call);
MaybeRecipe part_at(const Call &call);
MaybeRecipe chunk_part(const Call &call);

} // namespace engine_torch
