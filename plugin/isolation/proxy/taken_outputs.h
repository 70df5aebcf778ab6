// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks what a child says of a model's results before the host sees them.  Any thread.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace isolation
{

// What the host asked for.
enum class Results : bool { picture, all_tensors };

// Returns how many of the `wanted` tensors are there, or nullopt with what makes no sense: one is
// missing before another, or has no type, extents or name that such results have.  Of a picture
// all are there.
struct Checked {
    std::optional<size_t> count;
    std::string_view fault;
};
Checked check_shapes(const WireOutputs &outputs, size_t wanted, Results results);

// The same, and each lies within `bytes` of memory without gaps.
Checked check_views(const WireOutputs &outputs, size_t wanted, Results results, size_t bytes);

// Returns output `index`, which was checked, over the memory; null: its shape alone.
DnnTorchTensor view_of(const WireOutputs &outputs, size_t index, char *memory);

} // namespace isolation
