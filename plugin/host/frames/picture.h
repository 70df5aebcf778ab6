// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts between frames and the floats that a model sees: R, G and B with or without alpha, or
// luma alone.  1.0 is white unless the model has other numbers.  YUV frames become R, G and B by
// their own matrix and range.
#pragma once

#include "formats.h"
#include "host/ffmpeg_pointers.h"
#include "images.h"

#include <vector>

namespace dnn_torch
{

// The part of a frame that a picture holds: the channels that a model sees, alpha alone, or the
// second and third component, in planes.
enum class Part { seen, alpha, chroma };

// Consecutive components of a format, as libavutil counts them.
struct Components {
    int first, count;
};

// Returns the components of a frame that a picture of so many channels holds.
Components components_of(AVPixelFormat format, int channels, Part part);

// The layout of a frame's rows for a model with this number of channels, with the frame's
// colours.
class PictureLayout
{
public:
    PictureLayout(const AVFrame *frame, int channels, const PictureNumbers &numbers,
                  Part part = Part::seen);
    PictureLayout(const PictureLayout &) = delete;
    PictureLayout &operator=(const PictureLayout &) = delete;

    RowLayout row;

private:
    void reverse();

    Colours colours_{};
    NumberMap map_{};
};

FrameRow frame_row(const AVFrame *frame, const RowLayout &layout, int y);
FloatRow image_row(const Images &images, int picture, int y);

// What a model gets for colours of YUV that are out of RGB's gamut.  `whole` keeps them, so that
// they survive the way back.  `cut` clips them, as in the pictures that analysing models were
// trained on.
enum class Gamut { whole, cut };

// Fills picture `index` of `images` from `frame`.
void read_picture(const AVFrame *frame, const PictureNumbers &numbers, const Images &images,
                  int index, Gamut gamut = Gamut::whole);

// Fills the model's channels of `result` from picture `index` of `images`, as write_row() does.
// Alpha and padding of packed formats share these rows: they are copied from `source`, a frame of
// the same format, if it has the same size, and become all ones otherwise.  `source` may be null.
// Returns whether there was a NaN.
bool write_picture(const Images &images, const PictureNumbers &numbers, int index,
                   const AVFrame *source, AVFrame *result, Part part = Part::seen);

// Mixes a model's output with the frame that it was made from.  Belongs to one thread.  Allocates
// memory only when first used.
class Mixer
{
public:
    // Like write_picture(), with `source + (picture - source) * strength` for each sample.
    // `source` has the format and size of `result`.
    bool write(const Images &images, const PictureNumbers &numbers, int index, float strength,
               const AVFrame *source, AVFrame *result, Part part = Part::seen);

    // The same for a result that is already written, such as one of quantised samples.
    void blend(int channels, float strength, const AVFrame *source, AVFrame *result,
               Part part = Part::seen);

private:
    FloatRow row(size_t number, int width);

    std::vector<float> memory_;
};

} // namespace dnn_torch
