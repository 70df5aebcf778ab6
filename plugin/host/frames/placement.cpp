// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "placement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dnn_torch
{
namespace
{

// Returns extent * factor / divisor, rounded to nearest, from 1 to `most`.
int scaled(int extent, int factor, int divisor, int most)
{
    const int64_t product = int64_t{extent} * factor;
    const int64_t rounded = (2 * product + divisor) / (2 * int64_t{divisor});
    return static_cast<int>(std::clamp<int64_t>(rounded, 1, most));
}

bool is_wider(Size one, Size other)
{
    return int64_t{one.width} * other.height > int64_t{other.width} * one.height;
}

Region middle_of(Size whole, Size part)
{
    return {
        .x = (whole.width - part.width) / 2, .y = (whole.height - part.height) / 2, .size = part};
}

// Returns the largest size with the aspect of `shape` that fits into `room`.
Size fitted(Size shape, Size room)
{
    if (is_wider(shape, room))
        return {room.width, scaled(shape.height, room.width, shape.width, room.height)};
    return {scaled(shape.width, room.height, shape.height, room.width), room.height};
}

Region aligned(Region region, Size unit)
{
    region.x -= region.x % unit.width;
    region.y -= region.y % unit.height;
    return region;
}

} // namespace

float Placement::scale_x() const
{
    return static_cast<float>(target.size.width) / static_cast<float>(source.size.width);
}

float Placement::scale_y() const
{
    return static_cast<float>(target.size.height) / static_cast<float>(source.size.height);
}

float Placement::x_in_frame(float x) const
{
    return static_cast<float>(source.x) + (x - static_cast<float>(target.x)) / scale_x();
}

float Placement::y_in_frame(float y) const
{
    return static_cast<float>(source.y) + (y - static_cast<float>(target.y)) / scale_y();
}

Placement place(Size frame, Size picture, Placing placing, Size chroma)
{
    const Region whole = {.x = 0, .y = 0, .size = frame};
    const Region filled = {.x = 0, .y = 0, .size = picture};
    switch (placing) {
    case Placing::letterbox:
        return {.source = whole, .target = middle_of(picture, fitted(frame, picture))};
    case Placing::crop:
        return {.source = aligned(middle_of(frame, fitted(picture, frame)), chroma),
                .target = filled};
    case Placing::corner:
        return {.source = whole, .target = whole};
    default:
        return {.source = whole, .target = filled};
    }
}

Size rounded_up(Size size, int multiple)
{
    const auto up = [multiple](int extent) {
        return (extent + multiple - 1) / multiple * multiple;
    };
    return {up(size.width), up(size.height)};
}

Size picture_for(Size frame, int longest, int multiple)
{
    const int most = std::max(longest / multiple, 1) * multiple;
    return rounded_up(fitted(frame, {most, most}), multiple);
}

} // namespace dnn_torch
