// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What size a model gives for what size, found from a few small runs.
#pragma once

#include <functional>
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

// Runs the model on a picture of that size; throws what the model throws.
using RunAtSize = std::function<Size(Size)>;

// The size that the model gives for `input`.  Only small pictures are run, of
// extents with the same remainder by `size_step` as the input's, so that no
// rounding inside the model differs; `input` itself is run only where it is
// small or where the small runs fail or do not lie on a line.
Size predict_output(Size input, const RunAtSize &run);

constexpr int size_step = 64; // a multiple of the strides that models use

} // namespace dnn_torch
