// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace dnn_torch
{

struct Size {
    int width, height;
    bool operator==(const Size &) const = default;
};

// "640x360"
inline std::string to_text(Size size)
{
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

// Returns the smallest size that holds both.
inline Size larger_of(Size one, Size other)
{
    return {one.width > other.width ? one.width : other.width,
            one.height > other.height ? one.height : other.height};
}

// The extent of the small pictures with which models are probed, a multiple of common strides.
constexpr int small_extent = 64;

} // namespace dnn_torch
