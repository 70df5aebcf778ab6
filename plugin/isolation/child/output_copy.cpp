// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output_copy.h"

#include "isolation/protocol/tensor_views.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace isolation
{
namespace
{

constexpr int64_t alignment = 64;

// Whether both have the same strides, so that one copy moves all elements.
bool have_same_strides(const DnnTorchTensor &tensor, const WireTensor &place)
{
    for (int i = 0; i < tensor.rank; i++)
        if (tensor.dims[i] > 1 && tensor.strides[i] != place.strides[i])
            return false;
    return true;
}

// Copies dimension `at` and those after it.
void copy_elements(const DnnTorchTensor &tensor, int at, const char *from, const WireTensor &place,
                   char *to, size_t element)
{
    if (at == tensor.rank) {
        std::memcpy(to, from, element);
        return;
    }
    const bool is_row = at == tensor.rank - 1 &&
                        tensor.strides[at] == static_cast<int64_t>(element) &&
                        place.strides[at] == static_cast<int64_t>(element);
    if (is_row) {
        std::memcpy(to, from, static_cast<size_t>(tensor.dims[at]) * element);
        return;
    }
    for (int64_t i = 0; i < tensor.dims[at]; i++)
        copy_elements(tensor, at + 1, from + i * tensor.strides[at], place,
                      to + i * place.strides[at], element);
}

} // namespace

std::optional<uint64_t> lay_out(std::span<const DnnTorchTensor> out, std::span<WireTensor> places)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < out.size(); i++) {
        WireTensor &place = places[i] = to_wire(out[i]);
        const std::optional<int64_t> packed = packed_bytes(place, Extents::from_zero);
        if (!packed || !out[i].data)
            return std::nullopt;
        // A dimension of one element may have any stride.
        for (int j = 0; j < place.rank; j++)
            if (place.dims[j] == 1)
                place.strides[j] = element_bytes(place.type);
        if (*packed == 0 || span_of(place) != packed)
            pack_strides(place);
        place.offset = bytes;
        if (__builtin_add_overflow(bytes, *packed, &bytes) ||
            __builtin_add_overflow(bytes, alignment - 1, &bytes))
            return std::nullopt;
        bytes -= bytes % alignment;
    }
    return static_cast<uint64_t>(bytes);
}

void copy_out(std::span<const DnnTorchTensor> out, std::span<const WireTensor> places, char *memory)
{
    for (size_t i = 0; i < out.size(); i++) {
        char *to = memory + places[i].offset;
        const char *from = static_cast<const char *>(out[i].data);
        const int64_t packed = *packed_bytes(places[i], Extents::from_zero);
        if (packed == 0)
            continue;
        if (have_same_strides(out[i], places[i]))
            std::memcpy(to, from, static_cast<size_t>(packed));
        else
            copy_elements(out[i], 0, from, places[i], to,
                          static_cast<size_t>(element_bytes(out[i].type)));
    }
}

} // namespace isolation
