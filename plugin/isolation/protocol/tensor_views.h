// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Arithmetic of tensors that cannot overflow.  Any thread.
#pragma once

#include "messages.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace isolation
{

// 0 for a type that is not known.
int64_t element_bytes(int32_t type);

// What extents there may be: those of pictures are at least 1.
enum class Extents : uint8_t { from_zero, from_one };

// Whether the tensor's type and rank are known and its extents allowed.
bool has_shape(const WireTensor &tensor, Extents extents = Extents::from_one);

// The bytes from the first element to the end of the last; 0 if there are none.  Nullopt if
// has_shape() is false, a stride is negative or no multiple of an element, or the sum does not fit
// into 64 bits.
std::optional<int64_t> span_of(const WireTensor &tensor, Extents extents = Extents::from_one);

// Whether all elements lie within `bytes` and at multiples of their size.
bool lies_within(const WireTensor &tensor, size_t bytes, Extents extents = Extents::from_one);

// Bytes of all elements side by side, or nullopt as above: also if those of a tensor would not fit
// that has at least one element in each dimension.
std::optional<int64_t> packed_bytes(const WireTensor &tensor, Extents extents = Extents::from_one);

// Sets the strides of a tensor without gaps, the last dimension innermost.
void pack_strides(WireTensor &tensor);

// How many tensors come before the first that is not there.
size_t count_there(std::span<const DnnTorchTensor> tensors);
// Returns nullopt if another one follows.
std::optional<size_t> count_there(std::span<const WireTensor> tensors);

WireTensor to_wire(const DnnTorchTensor &tensor);
// Without memory.
DnnTorchTensor from_wire(const WireTensor &tensor);

} // namespace isolation
