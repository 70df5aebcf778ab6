// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where the tiles of a picture lie, and what is kept of each: arithmetic alone, for one axis.
#pragma once

#include "host/size.h"

#include <optional>
#include <vector>

namespace dnn_torch
{

// A model makes `extent * out / in` of an extent.
struct Ratio {
    int out = 1, in = 1;
    bool operator==(const Ratio &) const = default;
};

// Returns nullopt unless the output is the input times a fraction of small numbers.  Models that
// cut a border off have no such ratio.
std::optional<Ratio> ratio_between(int extent, int made);

// Returns the least multiple of `step` that is not below `extent`.
int round_up(int extent, int step);
inline Size round_up(Size size, int step)
{
    return {round_up(size.width, step), round_up(size.height, step)};
}

struct TileAxis {
    int extent; // of the picture with its padding
    int tile;   // of one run
    int reach;  // how far from a tile's inner edge its results may be wrong
    int step;   // tiles begin at multiples of it; a multiple of `ratio.in`
    Ratio ratio = {};
    int kept;     // what is kept of the result from its beginning, without the padding
    bool blended; // neighbours are blended where they overlap
};

// A tile of one axis.  All but `start` is in samples of the result.
struct TileSpan {
    int start;      // where its input begins
    int offset;     // where its result begins
    int begin, end; // what is written of it
    int rise, fall; // over how many samples it is blended with the one before and the next one
    bool operator==(const TileSpan &) const = default;
};

// Returns the largest tile of at most `wanted` whose end meets the picture's end if all tiles
// begin at multiples of the step.
int aligned_tile(int extent, int wanted, int step);

// Returns the smallest tile with which cut_axis() goes on.
int least_tile(int reach, int step, Ratio ratio);

// Returns the tiles, from the first sample to the last, or an empty list if they are too small
// for the reach.  One tile that is as large as the picture needs no reach.
std::vector<TileSpan> cut_axis(const TileAxis &axis);

} // namespace dnn_torch
