// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tiling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace dnn_torch
{
namespace
{

int round_down(int extent, int step)
{
    return extent / step * step;
}

int scaled(int extent, Ratio ratio)
{
    return static_cast<int>(int64_t{extent} * ratio.out / ratio.in);
}

// Spreads the tiles evenly, so that the last one overlaps no more than the others.
std::vector<int> starts_of(const TileAxis &axis, int advance)
{
    const int last = axis.extent - axis.tile;
    const int count = (last + advance - 1) / advance;
    std::vector<int> starts;
    for (int i = 0; i < count; i++)
        starts.push_back(
            round_down(static_cast<int>(int64_t{last} * i / std::max(count, 1)), axis.step));
    starts.push_back(last);
    return starts;
}

// Returns a border at which both neighbours are correct and which is at a sample of the result.
int border_between(const TileAxis &axis, int start, int next)
{
    const int margin = round_up(axis.reach, axis.ratio.in);
    const int middle = round_down((start + axis.tile + next) / 2, axis.ratio.in);
    return std::max(middle, next + margin);
}

// Returns over how many samples of the input the neighbours of a border are blended.  No sample of
// a tile is blended with both neighbours.
int blend_around(const TileAxis &axis, int border, int start, int next, int least_gap)
{
    const int nearest =
        std::min({border - next, start + axis.tile - border, least_gap - 2 * axis.ratio.in});
    return round_down(std::max(nearest, 0), 2 * axis.ratio.in);
}

int least_gap_of(const std::vector<int> &starts)
{
    int least = starts.back();
    for (size_t i = 1; i < starts.size(); i++)
        least = std::min(least, starts[i] - starts[i - 1]);
    return least;
}

} // namespace

std::optional<Ratio> ratio_between(int input, int output)
{
    constexpr int most = 64, most_parts = 4; // 3/2 and 4/3 are scales; 15/16 is a border cut off
    if (input < 1 || output < 1)
        return std::nullopt;
    const int common = std::gcd(input, output);
    const Ratio ratio = {.out = output / common, .in = input / common};
    if (ratio.out > most || ratio.in > most || (ratio.out > 1 && ratio.in > most_parts))
        return std::nullopt;
    return ratio;
}

int round_up(int extent, int step)
{
    return (extent + step - 1) / step * step;
}

int aligned_tile(int extent, int wanted, int step)
{
    if (wanted >= extent)
        return extent;
    const int tile = wanted - (wanted - extent % step + step) % step;
    return tile > 0 ? tile : std::min(tile + step, extent);
}

int least_tile(int reach, int step, Ratio ratio)
{
    return 2 * round_up(reach, ratio.in) + 2 * step;
}

std::vector<TileSpan> cut_axis(const TileAxis &axis)
{
    if (axis.tile == axis.extent)
        return {{.start = 0, .offset = 0, .begin = 0, .end = axis.kept, .rise = 0, .fall = 0}};
    const int advance = round_down(axis.tile - 2 * round_up(axis.reach, axis.ratio.in), axis.step);
    if (advance < 1 || axis.tile > axis.extent || (axis.extent - axis.tile) % axis.step)
        return {};
    const std::vector<int> starts = starts_of(axis, advance);
    const int least_gap = least_gap_of(starts);
    std::vector<TileSpan> spans;
    int border = 0, blend = 0;
    for (size_t i = 0; i < starts.size(); i++) {
        TileSpan span = {.start = starts[i], .offset = scaled(starts[i], axis.ratio)};
        span.rise = scaled(blend, axis.ratio);
        span.begin = scaled(border, axis.ratio) - span.rise / 2;
        span.end = axis.kept;
        blend = 0;
        if (i + 1 < starts.size()) {
            border = border_between(axis, starts[i], starts[i + 1]);
            if (axis.blended)
                blend = blend_around(axis, border, starts[i], starts[i + 1], least_gap);
            span.fall = scaled(blend, axis.ratio);
            span.end = std::min(scaled(border, axis.ratio) + span.fall / 2, axis.kept);
        }
        if (span.begin < span.end)
            spans.push_back(span);
    }
    return spans;
}

} // namespace dnn_torch
