// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks what a child says of a model's results before the host sees them.  Any thread.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace isolation
{

// What the host asked for.
enum class Results : bool { picture, all_tensors };

// The number of tensors that are present of those `wanted`, or nullopt with what is wrong: one is
// missing before another, or has a type, extents or a name that such results cannot have.  Of a
// picture none may be missing.
struct Checked {
    std::optional<size_t> count;
    std::string_view fault;
};
Checked check_shapes(const WireOutputs &outputs, size_t wanted, Results results);

// The same, and each must be within `bytes` of memory and without gaps.
Checked check_views(const WireOutputs &outputs, size_t wanted, Results results, size_t bytes);

// Returns how much of the memory such tensors use, which were checked.
size_t bytes_used(std::span<const WireTensor> tensors);

// Returns output `index`, which was checked, over the memory; null: only its shape.
DnnTorchTensor view_of(const WireOutputs &outputs, size_t index, char *memory);

} // namespace isolation
