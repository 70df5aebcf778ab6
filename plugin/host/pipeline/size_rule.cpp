// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "size_rule.h"

#include <algorithm>
#include <exception>
#include <optional>

namespace dnn_torch
{
namespace
{

// The smallest extent from size_step on with the remainder of `extent`; `extent` where that is
// less.
int small_extent(int extent)
{
    return std::min(extent, size_step + extent % size_step);
}

std::optional<int> extrapolate(int small, int small_output, int larger_output, int extent)
{
    long growth = larger_output - small_output;
    long steps = (extent - small) / size_step;
    long output = small_output + growth * steps;
    if (growth < 0 || output < 1)
        return std::nullopt;
    return static_cast<int>(output);
}

std::optional<Size> predict_from_small(Size input, const RunAtSize &run)
{
    Size small = {small_extent(input.width), small_extent(input.height)};
    Size first = run(small);
    Size second = run({small.width + size_step, small.height + size_step});
    Size third = run({small.width + 2 * size_step, small.height + 2 * size_step});
    if (third.width - second.width != second.width - first.width ||
        third.height - second.height != second.height - first.height)
        return std::nullopt;
    auto width = extrapolate(small.width, first.width, second.width, input.width);
    auto height = extrapolate(small.height, first.height, second.height, input.height);
    if (!width || !height)
        return std::nullopt;
    return Size{*width, *height};
}

} // namespace

Size predict_output(Size input, const RunAtSize &run)
{
    constexpr int small_enough = 3 * size_step;
    if (input.width > small_enough || input.height > small_enough) {
        try {
            if (auto predicted = predict_from_small(input, run))
                return *predicted;
        } catch (const std::exception &) {
            // A model may refuse small pictures and take this size: only this size tells.
        }
    }
    return run(input);
}

} // namespace dnn_torch
