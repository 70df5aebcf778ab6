// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shown_masks.h"

#include "host/error.h"
#include "host/frames/class_picture.h"
#include "host/frames/interpolation.h"
#include "host/frames/stencil.h"
#include "host/inference/fork_gate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace dnn_torch
{
namespace
{

// What belongs to a thing is likelier of it than not.
constexpr float threshold = 0.5F;

// Of pixels from `first` on, in a row of values that reaches from one place in the frame to
// another.
std::vector<Between> places(int first, int count, float from, float to, int values)
{
    const double scale = static_cast<double>(values) / (to - from);
    return positions((static_cast<double>(first) - from) * scale, count * scale, count, values);
}

// What of `box` and of the frame the mask's area covers, in whole pixels whose middles lie in it.
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

// The surest come first.
void leave_to_surer_ones(std::vector<Stencil> &stencils, Size frame)
{
    const auto width = static_cast<size_t>(frame.width);
    std::vector<bool> is_taken(width * static_cast<size_t>(frame.height));
    for (Stencil &stencil : stencils) {
        auto inside = stencil.inside.begin();
        for (int y = stencil.top; y < stencil.top + stencil.size.height; y++)
            for (int x = stencil.left; x < stencil.left + stencil.size.width; x++, inside++) {
                auto taken = is_taken[static_cast<size_t>(y) * width + static_cast<size_t>(x)];
                *inside = *inside && !taken;
                taken = taken || *inside;
            }
    }
}

void make_writable(AVFrame &frame)
{
    NoFork no_fork;
    if (int ret = av_frame_make_writable(&frame); ret < 0)
        throw Error(ret, "a frame cannot be copied to show masks in it");
}

} // namespace

void show_masks(const Findings &found, ShownMasks how, AVFrame &frame)
{
    if (how == ShownMasks::none)
        return;
    const Size size = {frame.width, frame.height};
    std::vector<Stencil> stencils;
    std::vector<int> labels;
    for (const Finding &thing : found.things) {
        const Detection &detection = thing.detection;
        if (!detection.mask)
            continue;
        stencils.push_back(stencil_of(detection.mask, detection.box, size));
        labels.push_back(detection.label);
    }
    if (how == ShownMasks::overlay && stencils.empty())
        return;
    make_writable(frame);
    if (how == ShownMasks::alpha)
        return cut_out(stencils, &frame);
    leave_to_surer_ones(stencils, size);
    for (size_t i = 0; i < stencils.size(); i++) // 0 would be black
        paint(stencils[i], colour_of_class(static_cast<unsigned>(labels[i]) + 1), &frame);
}

} // namespace dnn_torch
