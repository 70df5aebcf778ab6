// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds sizes that a model takes in place of one that it refuses.
#pragma once

#include "host/size.h"

#include <functional>
#include <optional>
#include <string>

namespace dnn_torch
{

// Returns the size that comes out, or nullopt if the model refuses the size.
using TrySize = std::function<std::optional<Size>(Size)>;

struct TakenSize {
    Size size;        // that the model takes
    Size made;        // what it makes of it
    int multiple;     // of which the model wants width and height, as far as was tried; or 1
    bool only;        // it takes no other, as far as was tried
    std::string rule; // "multiples of 8", "8n + 1", "at least 128x128", "64x48 only"
};

// Returns the smallest size found into which the frame fits once it is padded, if the model makes a
// multiple or a simple fraction of it.  Failing that, looks for a model of one size; `told` is one
// that its file tells.  Returns nullopt if the model refuses all.
std::optional<TakenSize> find_taken_size(Size frame, std::optional<Size> told,
                                         const TrySize &try_size);

// Only looks for a model of one size.
std::optional<TakenSize> find_only_size(std::optional<Size> told, const TrySize &try_size);

} // namespace dnn_torch
