// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Brings frames of YUV to 4:4:4 with planes, and back to subsampled or interleaved chroma.
#pragma once

#include "host/ffmpeg_pointers.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Returns the format of planes without subsampling whose samples are like those of this format of
// YUV, which may be the same one.
AVPixelFormat full_chroma_format(AVPixelFormat format);

// Belongs to one thread.  Chroma lies where the subsampled frame says; at the left, between two
// rows, if it does not say.  What was widened and is narrowed is the same to the bit.
class ChromaConverter
{
public:
    // `to` has the format that full_chroma_format() returns for that of `from`, and its size.
    void widen(const AVFrame *from, AVFrame *to);
    // The other way round.
    void narrow(const AVFrame *from, AVFrame *to);

private:
    template <class Sample> class Work;

    template <class Change>
    void convert(const AVFrame *subsampled, const AVFrame *from, AVFrame *to, const Change &change);

    std::vector<std::byte> planes_[2], rows_[4];
};

} // namespace dnn_torch
