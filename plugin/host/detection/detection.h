// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A detector's findings, in pixels of its input picture.
#pragma once

#include "host/size.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dnn_torch
{

struct Box {
    float left = 0, top = 0, right = 0, bottom = 0;

    float width() const { return right - left; }
    float height() const { return bottom - top; }
    float area() const { return width() * height(); }
    bool operator==(const Box &) const = default;
};

struct KeyPoint {
    float x = 0, y = 0;
    float confidence = 1; // that it can be seen

    bool operator==(const KeyPoint &) const = default;
};

// A rectangle that is rotated by `angle` radians, clockwise, about its centre.
struct TurnedBox {
    float middle_x = 0, middle_y = 0, width = 0, height = 0, angle = 0;

    bool operator==(const TurnedBox &) const = default;
};

// Which part of an area belongs to the object.
struct Mask {
    Size size = {}; // of the grid of values that covers `area`
    Box area = {};  // in the pixels of the picture
    // From 0, outside the object, to 1; row by row.  Copies of a mask share them.
    std::shared_ptr<const std::vector<float>> values = {};

    explicit operator bool() const { return values != nullptr; }
};

// The most values that all masks of one picture may have together.
constexpr int64_t most_mask_values = 32 << 20;

struct Detection {
    Box box; // axis-aligned
    float confidence = 0;
    int label = 0;                        // the number of its class, from 0 on; -1: not known
    std::optional<TurnedBox> turned = {}; // `box` encloses it
    std::vector<KeyPoint> key_points = {};
    int64_t row = 0; // of the decoder's tensor that it was read from
    Mask mask = {};  // false: not known
};

} // namespace dnn_torch
