// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Arithmetic with shapes of tensors that cannot overflow.  Any thread.
#pragma once

#include "messages.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace isolation
{

// Returns 0 for an unknown type.
int64_t element_bytes(int32_t type);

// Which extents are allowed: those of pictures are at least 1.
enum class Extents : uint8_t { from_zero, from_one };

// Whether the tensor's type and rank are known and its extents allowed.
bool has_shape(const WireTensor &tensor, Extents extents = Extents::from_one);

// Returns the bytes from the first element to the end of the last; 0 if there are none.  Returns
// nullopt if has_shape() is false, a stride is negative or no multiple of an element, or the sum
// does not fit into 64 bits.
std::optional<int64_t> span_of(const WireTensor &tensor, Extents extents = Extents::from_one);

// Whether all elements are within `bytes` and at multiples of their size.
bool lies_within(const WireTensor &tensor, size_t bytes, Extents extents = Extents::from_one);

// Returns the bytes of all elements without gaps, or nullopt as above.  The check for overflow
// counts extents of 0 as 1.
std::optional<int64_t> packed_bytes(const WireTensor &tensor, Extents extents = Extents::from_one);

// Sets the strides of a tensor without gaps, the last dimension innermost.
void pack_strides(WireTensor &tensor);

// Counts the tensors before the first absent one.
size_t count_there(std::span<const DnnTorchTensor> tensors);
// Returns nullopt if a tensor follows an absent one.
std::optional<size_t> count_there(std::span<const WireTensor> tensors);

WireTensor to_wire(const DnnTorchTensor &tensor);
// Without memory.
DnnTorchTensor from_wire(const WireTensor &tensor);

} // namespace isolation
