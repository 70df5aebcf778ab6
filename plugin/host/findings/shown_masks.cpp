// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shown_masks.h"

#include "host/error.h"
#include "host/frames/class_maps.h"
#include "host/frames/stencil.h"
#include "host/workers/fork_gate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace dnn_torch
{
namespace
{

// A pixel belongs to an object if that is more likely than not.
constexpr float threshold = 0.5F;

// Returns the sampling positions of pixels `first`, `first` + 1, ... in a row of values that spans
// `from` to `to` in the frame.
std::vector<Between> places(int first, int count, float from, float to, int values)
{
    const double scale = static_cast<double>(values) / (to - from);
    return positions((static_cast<double>(first) - from) * scale, count * scale, count, values);
}

// Returns the intersection of the mask's area, `box` and the frame, in pixels whose centres are
// inside it.
Stencil rectangle_of(const Box &area, const Box &box, Size frame)
{
    const auto edge = [](float place, int most) {
        return static_cast<int>(
            std::clamp(std::ceil(place - 0.5F), 0.0F, static_cast<float>(most)));
    };
    const int left = edge(std::max(area.left, box.left), frame.width);
    const int top = edge(std::max(area.top, box.top), frame.height);
    const int right = edge(std::min(area.right, box.right), frame.width);
    const int bottom = edge(std::min(area.bottom, box.bottom), frame.height);
    return {.left = left,
            .top = top,
            .size = {std::max(right - left, 0), std::max(bottom - top, 0)},
            .inside = {}};
}

Stencil stencil_of(const Mask &mask, const Box &box, Size frame)
{
    Stencil stencil = rectangle_of(mask.area, box, frame);
    const Size size = stencil.size;
    if (size.width == 0 || size.height == 0 || mask.size.width <= 0 || mask.size.height <= 0)
        return {};
    const std::vector<Between> columns =
        places(stencil.left, size.width, mask.area.left, mask.area.right, mask.size.width);
    const std::vector<Between> rows =
        places(stencil.top, size.height, mask.area.top, mask.area.bottom, mask.size.height);
    const ptrdiff_t width = mask.size.width;
    const float *const values = mask.values->data();
    stencil.inside.reserve(columns.size() * rows.size());
    for (const Between &row : rows) {
        const float *const upper = values + row.first * width;
        const float *const lower = values + row.second * width;
        for (const Between &column : columns) {
            const float above = mixed(upper[column.first], upper[column.second], column.weight);
            const float below = mixed(lower[column.first], lower[column.second], column.weight);
            stencil.inside.push_back(mixed(above, below, row.weight) >= threshold);
        }
    }
    return stencil;
}

Stencil empty_stencil(Size frame)
{
    return {.left = 0,
            .top = 0,
            .size = frame,
            .inside = std::vector<uint8_t>(static_cast<size_t>(frame.width) *
                                           static_cast<size_t>(frame.height))};
}

// Removes from `one` the pixels that are set in `all`, and adds the others to `all`, which covers
// the frame.
void move_into(Stencil &all, Stencil &one)
{
    const auto width = static_cast<size_t>(all.size.width);
    auto inside = one.inside.begin();
    for (int y = one.top; y < one.top + one.size.height; y++)
        for (int x = one.left; x < one.left + one.size.width; x++, inside++) {
            uint8_t &taken = all.inside[static_cast<size_t>(y) * width + static_cast<size_t>(x)];
            *inside = *inside && !taken;
            taken = taken || *inside;
        }
}

} // namespace

void make_frame_writable(AVFrame &frame)
{
    NoFork no_fork;
    if (int ret = av_frame_make_writable(&frame); ret < 0)
        throw Error(ret, "a frame cannot be copied to draw in it");
}

void show_masks(const Findings &found, ShownMasks how, AVFrame &frame)
{
    if (how == ShownMasks::none)
        return;
    const auto has_mask = [](const Finding &thing) { return bool(thing.detection.mask); };
    if (how == ShownMasks::overlay &&
        std::none_of(found.things.begin(), found.things.end(), has_mask))
        return;
    make_frame_writable(frame);
    const Size size = {frame.width, frame.height};
    Stencil all = empty_stencil(size);
    // The most confident come first.  One at a time: each stencil may be as large as the frame.
    for (const Finding &thing : found.things) {
        const Detection &detection = thing.detection;
        if (!detection.mask)
            continue;
        Stencil own = stencil_of(detection.mask, detection.box, size);
        move_into(all, own);
        if (how == ShownMasks::overlay) // 0 would be black
            paint(own, colour_of_class(static_cast<unsigned>(detection.label) + 1), &frame);
    }
    if (how == ShownMasks::alpha)
        cut_out(all, &frame);
}

} // namespace dnn_torch
