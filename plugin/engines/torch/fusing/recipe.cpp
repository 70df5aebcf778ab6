// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "recipe.h"

#include "recipe_call.h"

#include <string>

namespace engine_torch
{

std::optional<Recipe> recipe_of(const torch::jit::Value &value, const Channels &channels)
{
    const torch::jit::Node &node = *value.node();
    const Call call = {node, value, channels};
    if (!value.type()->isSubtypeOf(*c10::TensorType::get()) || node.inputs().empty())
        return std::nullopt;
    if (node.kind() == c10::prim::ListUnpack)
        return unpacked_part(call);
    if (node.kind() == c10::prim::ConstantChunk)
        return chunk_part(call);
    if (node.kind() == c10::aten::__getitem__)
        return part_at(call);
    if (!node.kind().is_aten())
        return std::nullopt;
    const std::string name = node.kind().toUnqualString();
    for (const RecipeReaders *readers :
         {&convolution_readers(), &sample_readers(), &pixel_readers()})
        if (const auto reader = readers->find(name); reader != readers->end())
            return reader->second(call);
    return std::nullopt;
}

} // namespace engine_torch
