// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where the fields of messages between an isolated engine and its host are, for tests that change
// them.
#pragma once

#include "isolation/protocol/messages.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz
{

// Bytes from the message's beginning, and width.
struct Field {
    size_t at = 0, width = 0;
};
using Fields = std::vector<Field>;

// As often as there are elements.
inline void add(Fields &fields, size_t at, size_t width, size_t count = 1, size_t step = 0)
{
    for (size_t i = 0; i < count; i++)
        fields.push_back({at + i * (step ? step : width), width});
}

template <class Number> constexpr size_t width_of()
{
    static_assert(sizeof(Number) <= sizeof(uint64_t));
    return sizeof(Number);
}

// A member that is one number.
#define FIELD(fields, base, type, member)                                                          \
    fuzz::add(fields, (base) + offsetof(type, member), fuzz::width_of<decltype(type::member)>())

// Its numbers, without the name.
inline void add_tensor(Fields &fields, size_t base)
{
    using isolation::WireTensor;
    FIELD(fields, base, WireTensor, type);
    FIELD(fields, base, WireTensor, rank);
    add(fields, base + offsetof(WireTensor, dims), 8, DNN_TORCH_DIMENSIONS);
    add(fields, base + offsetof(WireTensor, strides), 8, DNN_TORCH_DIMENSIONS);
    FIELD(fields, base, WireTensor, white);
    FIELD(fields, base, WireTensor, low);
    FIELD(fields, base, WireTensor, high);
    FIELD(fields, base, WireTensor, area);
    FIELD(fields, base, WireTensor, offset);
}

} // namespace fuzz
