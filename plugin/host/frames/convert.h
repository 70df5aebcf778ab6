// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts one row of a frame to floats and back, with the CPU's vectors.  Results are the same on
// every CPU.  All functions may be called from several threads at once.
#pragma once

#include <cstddef>

namespace dnn_torch
{

enum class Element { u8, u16, f32 };

// Converts Y, U and V, as fractions of the format's largest value, to R, G and B, and back.
// Each row has three factors and a constant for one output.
struct Colours {
    float to_rgb[3][4], from_rgb[3][4];
};

// Maps samples to a model's numbers, for each of its channels: the fraction of the format's
// largest value times the factor, plus the offset.  No factor is 0.
struct NumberMap {
    float factor[4], offset[4];
};

// Where the samples of a format are in a row.
struct RowLayout {
    Element element;
    int shift;                          // bits of a sample below its value
    float white;                        // the largest value of an integer; 1 for floats
    int channels;                       // how many a model sees: 1, 3 or 4
    int group;                          // how many samples of a pixel are packed, 1 to 4
    int position[4];                    // where each channel is in the group
    int unseen;                         // the position of a sample unseen by the model, or -1
    int first = 0;                      // the component of the format that is the first channel
    const Colours *colours = nullptr;   // null unless Y, U and V become R, G and B
    const NumberMap *numbers = nullptr; // null if the model takes the fractions as they are
    bool reversed = false;              // the model's first channel is the frame's last one
    bool cut = false;                   // R, G and B out of gamut are clipped
};

// Where each channel's row begins.  Packed formats have one row for all channels.
struct FrameRow {
    void *channel[4];
};

// A row of floats.  Element x of channel c is at channel[c] + x * step.
struct FloatRow {
    float *channel[4];
    ptrdiff_t step;
};

// Fills `to` with value / white, correctly rounded; if the layout has colours, with R, G and B,
// which exceed 0..1 where out of gamut unless `cut` is set.  If the layout has numbers, these are
// then mapped to them.
void read_row(const RowLayout &layout, const FrameRow &from, const FloatRow &to, size_t width);

// Fills `to` from floats: the reverse of read_row().  Integers are clamped and rounded to nearest,
// halves to even; float formats take any number.  If the layout has colours, R, G and B become Y, U
// and V, and only those are clamped.  Samples unseen by the model are copied from `source`, a row
// of the same format, or become all ones if `source` is null.  Returns whether there was a NaN; it
// becomes 0.
bool write_row(const RowLayout &layout, const FloatRow &from, const FrameRow *source,
               const FrameRow &to, size_t width);

// Returns the name of the instruction set in use.
const char *convert_target();

} // namespace dnn_torch
