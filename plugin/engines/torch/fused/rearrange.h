// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Moves samples: between arrangements, channels, pixels and sizes.  Each function makes one row.
// Sample is float or Bf16.  Safe on several threads at once for different rows.
#pragma once

#include "rows.h"
#include "stages.h"

#include <cstdint>
#include <span>

namespace engine_torch::fused
{

// Some channels of a row.
template <class Sample> struct ChannelsOfRow {
    Sample *row;
    RowLayout layout;
    int64_t first = 0;
};

template <class Sample>
void copy_channels(ChannelsOfRow<const Sample> from, ChannelsOfRow<Sample> to, int64_t count);

// Zeroes channels that only pad a block, if there are any.  Their weights are zero, but zero times
// NaN would be NaN.
template <class Sample> void clear_padded_channels(Sample *row, const RowLayout &layout);

// `y` is the row that is made, `from` the row of the input that rows_needed() names.
template <class Sample>
void shuffle_row(const Shuffle &shuffle, int64_t y, const Sample *from, const RowLayout &in,
                 Sample *to, const RowLayout &out);

// `from` are the `factor` rows of the input, one after the other.
template <class Sample>
void unshuffle_row(const PixelUnshuffle &unshuffle, const Sample *from, const RowLayout &in,
                   Sample *to, const RowLayout &out);

// Both layouts have the same lanes.
template <class Sample>
void repeat_pixels(int64_t factor, const Sample *from, const RowLayout &in, Sample *to);

// `above` and `below` are the rows that row `y` is between, which may be the same.  Both layouts
// have the same lanes.
template <class Sample>
void interpolate_row(const Interpolation &interpolation, int64_t y, const Sample *above,
                     const Sample *below, const RowLayout &in, Sample *to);

// `from` is null for a row above or below the picture.  Both layouts have the same lanes.
template <class Sample>
void pad_row(const Padding &padding, const Sample *from, const RowLayout &in, Sample *to,
             const RowLayout &out);

// Floats of the caller's.  Strides are in samples.
struct PictureStrides {
    int64_t channel = 0, row = 0, pixel = 0;
};

// Returns whether all samples are finite.
template <class Sample> bool is_finite(const Sample *row, const RowLayout &layout);

template <class Sample>
void load_row(const float *from, const PictureStrides &strides, Sample *to, const RowLayout &out);
template <class Sample>
void store_row(const Sample *from, const RowLayout &in, float *to, const PictureStrides &strides);

} // namespace engine_torch::fused
