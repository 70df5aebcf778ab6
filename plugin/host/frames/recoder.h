// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts whole frames of YUV, RGB and gray to the formats that models are run on, and back.
#pragma once

#include "chroma.h"
#include "host/ffmpeg_pointers.h"

#include <vector>

namespace dnn_torch
{

// What frames are converted to before the model, and what results have before they are converted.
struct WorkFormats {
    AVPixelFormat taken, made;
    bool are_lab = false; // both are of Lab (lab.h)
};

// For a model with so many channels, which gets frames of `in` and whose results become `out`.
// The same formats if nothing is to be converted.  Conversions of different formats lose nothing:
// of YUV, chroma is doubled, or all becomes R, G and B of floats; of RGB, for luma alone, there
// comes YUV of 16 bits.
WorkFormats work_formats(AVPixelFormat in, AVPixelFormat out, int channels);

// For a model that makes a and b of Lab, and gets frames of `in`.
WorkFormats lab_formats(AVPixelFormat in);

enum class Recoding { plain, to_lab, from_lab };

// Belongs to one thread.  Both frames of a call have the same size, and those of all calls the same
// formats.
class Recoder
{
public:
    explicit Recoder(Recoding recoding = Recoding::plain) : recoding_(recoding) {}

    // Fills `to`, whose colour properties say what its samples mean.  Padding of packed pixels is
    // copied from `kept`, a frame like `to`, or becomes all ones if that is null.  Throws Error.
    void convert(const AVFrame *from, AVFrame *to, const AVFrame *kept = nullptr);

private:
    void recode(const AVFrame *from, AVFrame *to, const AVFrame *kept);

    const Recoding recoding_;
    ChromaConverter chroma_;
    FramePointer full_from_, full_to_; // without subsampling
    std::vector<float> rows_;
};

// Sets what the samples of `to` mean, which comes of `from`: the same if both are RGB or YUV.
void carry_colour_properties(const AVFrame *from, AVFrame *to);

} // namespace dnn_torch
