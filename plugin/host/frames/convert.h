// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One row of a frame to floats and back, with the vectors that the CPU has.
// Whatever those are, the results are the same.  All functions may be called
// from several threads at once.
#pragma once

#include <cstddef>

namespace dnn_torch
{

enum class Element { u8, u16, f32 };

// From Y, U and V as fractions of the largest code to R, G and B, and back: three
// factors and a constant for each of what comes out.
struct Colours {
    float to_rgb[3][4], from_rgb[3][4];
};

// How the samples of a format lie in a row.
struct RowLayout {
    Element element;
    int shift;                        // bits of a sample below its value
    float white;                      // the largest value of an integer; 1 for floats
    int channels;                     // that a model sees: 1 or 3
    int group;                        // samples of a pixel that lie side by side, 1 to 4
    int position[3];                  // of each channel in the group
    int rest;                         // the position of what the model does not see, or -1
    const Colours *colours = nullptr; // of Y, U and V; null where channels are as the model's
};

// Where a row of a frame begins.  Formats with groups have one beginning for all channels.
struct FrameRow {
    void *channel[3];
};

// A row of floats; element x of a channel lies at channel[c] + x * step.
struct FloatRow {
    float *channel[3];
    ptrdiff_t step;
};

// Fills `to` with value / white, correctly rounded; with R, G and B from 0 to 1 where
// the layout has colours.
void read_row(const RowLayout &layout, const FrameRow &from, const FloatRow &to, size_t width);

// Fills `to` from floats: with Y, U and V of them, clamped to colours that there are,
// where the layout has colours; clamped and rounded to nearest, halves to even, except
// that formats of floats take any number.  Returns whether there was a NaN,
// which counts as 0.  What the model does not see of a group comes from
// `source`, a row of the same format; all ones where `source` is null.
bool write_row(const RowLayout &layout, const FloatRow &from, const FrameRow *source,
               const FrameRow &to, size_t width);

// The name of the instruction set that is in use.
const char *convert_target();

} // namespace dnn_torch
