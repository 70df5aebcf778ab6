// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Between frames and the floats that a model sees: 1.0 is white, channels are
// R, G, B or luma alone.  R, G and B of YUV frames are made by the frames' own matrix
// and range.
#pragma once

#include "formats.h"
#include "host/ffmpeg_pointers.h"
#include "images.h"

namespace dnn_torch
{

// How the rows of a frame lie for a model of so many channels, with the frame's colours.
class PictureLayout
{
public:
    PictureLayout(const AVFrame *frame, int channels);
    PictureLayout(const PictureLayout &) = delete;
    PictureLayout &operator=(const PictureLayout &) = delete;

    RowLayout row;

private:
    Colours colours_{};
};

FrameRow frame_row(const AVFrame *frame, const RowLayout &layout, int y);

// Fills picture `index` of `images` from `frame`.
void read_picture(const AVFrame *frame, const Images &images, int index);

// Fills what the model sees of `result` from picture `index` of `images`, see
// write_row(), and whatever else shares the rows of that: alpha and padding of
// packed formats come from `source`, a frame of the same format, if it has the
// same size; if not, or if it is null, they become all ones.  Returns whether
// there was a NaN.
bool write_picture(const Images &images, int index, const AVFrame *source, AVFrame *result);

} // namespace dnn_torch
