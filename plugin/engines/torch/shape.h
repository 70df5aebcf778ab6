// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The extents of a batch of pictures.  Needs no LibTorch.
#pragma once

#include <cstdint>

namespace engine_torch
{

struct Shape {
    int32_t batch, channels, height, width;

    bool is_empty() const { return batch < 1 || channels < 1 || height < 1 || width < 1; }
};

} // namespace engine_torch
