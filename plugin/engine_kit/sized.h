// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Structs of engine.h begin with their size, because the host may come from another build.
#pragma once

#include "failure.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace engine_kit
{

// Returns a struct with only its size set.
template <class Struct> Struct sized()
{
    Struct result = {};
    result.size = sizeof(Struct);
    return result;
}

// Returns a copy of the caller's struct.  Members that the caller's lacks are zero.  Throws a
// Failure if the struct does not say its size.
template <class Struct> Struct taken(const Struct *given)
{
    if (!given || given->size <= sizeof given->size)
        throw Failure(DNN_TORCH_BAD_INPUT, "a struct of the caller does not say its size");
    Struct copy = {};
    std::memcpy(&copy, given, std::min(given->size, sizeof copy));
    copy.size = sizeof copy;
    return copy;
}

// Fills in as many members as the caller's struct has.
template <class Struct> void give(const Struct &value, Struct *to)
{
    const size_t size = to->size;
    std::memcpy(to, &value, std::min(size, sizeof value));
    to->size = size;
}

// Returns element `index` of the caller's array.
template <class Struct> Struct *element(Struct *array, size_t index)
{
    using Byte = std::conditional_t<std::is_const_v<Struct>, const char, char>;
    return reinterpret_cast<Struct *>(reinterpret_cast<Byte *>(array) + index * array->size);
}

// Fills in element `index` of the caller's array.
template <class Struct> void give_element(const Struct &value, Struct *array, size_t index)
{
    Struct *to = element(array, index);
    to->size = array->size;
    give(value, to);
}

} // namespace engine_kit
