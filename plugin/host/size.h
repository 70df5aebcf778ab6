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

// Returns a size that holds both.
inline Size larger_of(Size one, Size other)
{
    return {one.width > other.width ? one.width : other.width,
            one.height > other.height ? one.height : other.height};
}

// Models are tried on small pictures of this extent, a multiple of the strides that they use.
constexpr int small_extent = 64;

} // namespace dnn_torch
