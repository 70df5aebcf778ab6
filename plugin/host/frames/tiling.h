// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where the tiles of a picture are, and what is kept of each: pure arithmetic, for one axis.
#pragma once

#include "host/size.h"

#include <optional>
#include <vector>

namespace dnn_torch
{

// A model's output extent is its input extent * out / in.
struct Ratio {
    int out = 1, in = 1;
    bool operator==(const Ratio &) const = default;
};

// Returns nullopt unless the output is the input times a fraction of small numbers.  Models that
// cut a border off have no such ratio.
std::optional<Ratio> ratio_between(int input, int output);

// Returns the least multiple of `step` that is not below `extent`.
int round_up(int extent, int step);
inline Size round_up(Size size, int step)
{
    return {round_up(size.width, step), round_up(size.height, step)};
}

struct TileAxis {
    int extent; // of the picture with its padding
    int tile;   // of one run
    int reach;  // the distance from a tile's inner edge within which results may be wrong
    int step;   // tiles begin at multiples of it; a multiple of `ratio.in`
    Ratio ratio = {};
    int kept;     // the extent of the result without the padding
    bool blended; // neighbours are blended where they overlap
};

// A tile of one axis.  All but `start` is in samples of the result.
struct TileSpan {
    int start;      // where its input begins
    int offset;     // where its result begins
    int begin, end; // the range of the result that is written
    int rise, fall; // the samples over which it is blended with the previous and the next tile
    bool operator==(const TileSpan &) const = default;
};

// Returns the largest tile of at most `wanted` that can end at the picture's end when all tiles
// begin at multiples of the step.
int aligned_tile(int extent, int wanted, int step);

// Returns the smallest tile that cut_axis() accepts.
int least_tile(int reach, int step, Ratio ratio);

// Returns the tiles in order, or an empty list if they are too small for the reach.  One tile as
// large as the picture is accepted with any reach.
std::vector<TileSpan> cut_axis(const TileAxis &axis);

} // namespace dnn_torch
