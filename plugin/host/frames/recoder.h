// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts frames of YUV, RGB and gray to the formats that models are run on, and back.
#pragma once

#include "chroma.h"
#include "host/ffmpeg_pointers.h"

#include <vector>

namespace dnn_torch
{

// The formats of frames after they are converted for the model, and of its results before they are
// converted back.
struct WorkFormats {
    AVPixelFormat taken, made;
    bool are_lab = false; // both hold Lab (lab.h)
};

// Returns the formats for a model with so many channels, which gets frames of `in` and whose
// results become `out`; these formats themselves if nothing is to be converted.  Conversions lose
// nothing: YUV gets full chroma, or becomes RGB of floats; RGB becomes YUV of 16 bits for models
// of luma alone.
WorkFormats work_formats(AVPixelFormat in, AVPixelFormat out, int channels);

// Returns the formats for a model that predicts a and b of Lab, and gets frames of `in`.
WorkFormats lab_formats(AVPixelFormat in);

enum class Recoding { plain, to_lab, from_lab };

// Belongs to one thread.  Both frames of a call have the same size.  Their formats are the same in
// all calls.
class Recoder
{
public:
    explicit Recoder(Recoding recoding = Recoding::plain) : recoding_(recoding) {}

    // Fills `to`, whose colour properties must be set.  Padding of packed pixels is copied from
    // `kept`, a frame like `to`, or becomes all ones if that is null.  Throws Error.
    void convert(const AVFrame *from, AVFrame *to, const AVFrame *kept = nullptr);

private:
    void recode(const AVFrame *from, AVFrame *to, const AVFrame *kept);

    const Recoding recoding_;
    ChromaConverter chroma_;
    FramePointer full_from_, full_to_; // without subsampling
    std::vector<float> rows_;
};

// Sets the colour properties of `to`, which is converted from `from`: the same ones if both are
// RGB or neither is.
void carry_colour_properties(const AVFrame *from, AVFrame *to);

} // namespace dnn_torch
