// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds sizes that a model takes instead of one that it refuses.
#pragma once

#include "host/size.h"

#include <functional>
#include <optional>
#include <string>

namespace dnn_torch
{

// Returns the output's size, or nullopt if the model refuses the input's size.
using TrySize = std::function<std::optional<Size>(Size)>;

struct TakenSize {
    Size size;        // that the model takes
    Size made;        // of its output
    int multiple;     // the model takes multiples of it, as far as was tried; or 1
    bool only;        // it takes no other, as far as was tried
    std::string rule; // "multiples of 8", "8n + 1", "at least 128x128", "64x48 only"
};

// Returns the smallest size found to which the frame can be padded, if the output is a multiple or
// a simple fraction of it.  Otherwise tests whether the model takes only one size; `declared` is
// the size that its file names.  Returns nullopt if the model refuses all.
std::optional<TakenSize> find_taken_size(Size frame, std::optional<Size> declared,
                                         const TrySize &try_size);

// Only tests whether the model takes only one size.
std::optional<TakenSize> find_only_size(std::optional<Size> declared, const TrySize &try_size);

} // namespace dnn_torch
