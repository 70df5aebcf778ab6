// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The types of a file's numbers, as LibTorch calls them.
#pragma once

#include "engines/torch/checkpoint/weights.h"

#include <c10/core/ScalarType.h>

namespace engine_torch
{

inline c10::ScalarType scalar_type(ElementType type)
{
    switch (type) {
    case ElementType::float64:
        return c10::kDouble;
    case ElementType::float32:
        return c10::kFloat;
    case ElementType::float16:
        return c10::kHalf;
    case ElementType::bfloat16:
        return c10::kBFloat16;
    case ElementType::int64:
        return c10::kLong;
    case ElementType::int32:
        return c10::kInt;
    case ElementType::int16:
        return c10::kShort;
    case ElementType::int8:
        return c10::kChar;
    case ElementType::uint8:
        return c10::kByte;
    case ElementType::boolean:
        return c10::kBool;
    }
    return c10::kFloat;
}

} // namespace engine_torch
