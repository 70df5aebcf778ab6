// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Structs of engine.h that begin with their size: the host's may be of another build.
#pragma once

#include "failure.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace engine_kit
{

// A struct with nothing but its size.
template <class Struct> Struct sized()
{
    Struct made = {};
    made.size = sizeof(Struct);
    return made;
}

// What the caller gave.  Members that its struct lacks are zero.  Throws a Failure where
// it does not say its size.
template <class Struct> Struct taken(const Struct *given)
{
    if (!given || given->size <= sizeof given->size)
        throw Failure(DNN_TORCH_BAD_INPUT, "a struct of the caller does not say its size");
    Struct copy = {};
    std::memcpy(&copy, given, std::min(given->size, sizeof copy));
    copy.size = sizeof copy;
    return copy;
}

// Fills in as much as the caller's struct has room for.
template <class Struct> void give(const Struct &value, Struct *to)
{
    const size_t size = to->size;
    std::memcpy(to, &value, std::min(size, sizeof value));
    to->size = size;
}

// Element `index` of an array of the caller's.
template <class Struct> Struct *element(Struct *array, size_t index)
{
    using Byte = std::conditional_t<std::is_const_v<Struct>, const char, char>;
    return reinterpret_cast<Struct *>(reinterpret_cast<Byte *>(array) + index * array->size);
}

// The same, of an array that is to be filled.
template <class Struct> void give_element(const Struct &value, Struct *array, size_t index)
{
    Struct *to = element(array, index);
    to->size = array->size;
    give(value, to);
}

} // namespace engine_kit
