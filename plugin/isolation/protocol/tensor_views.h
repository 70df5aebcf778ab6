// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Arithmetic of tensors that cannot overflow.  Any thread.
#pragma once

#include "messages.h"

#include <cstdint>
#include <optional>
#include <string>

namespace isolation
{

// 0 for a type that is not known.
int64_t element_bytes(int32_t type);

// Whether the tensor's type and rank are known and each of its extents is at least 1.
bool has_shape(const WireTensor &tensor);

// The bytes from the first element to the end of the last.  Nullopt if has_shape() is false, a
// stride is negative or no multiple of an element, or the sum does not fit into 64 bits.
std::optional<int64_t> span_of(const WireTensor &tensor);

// Whether all elements lie within `bytes` and at multiples of their size.
bool lies_within(const WireTensor &tensor, size_t bytes);

// Bytes of all elements side by side, or nullopt as above.
std::optional<int64_t> packed_bytes(const WireTensor &tensor);

// Sets the strides of a tensor without gaps, the last dimension innermost.
void pack_strides(WireTensor &tensor);

WireTensor to_wire(const DnnTorchTensor &tensor);
// Without memory.
DnnTorchTensor from_wire(const WireTensor &tensor);

} // namespace isolation
