// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts YUV frames to planar 4:4:4, and back to subsampled or interleaved chroma.
#pragma once

#include "host/ffmpeg_pointers.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Returns the planar format without subsampling whose samples are like those of this YUV format.
// It may be the same format.
AVPixelFormat full_chroma_format(AVPixelFormat format);

// Belongs to one thread.  Chroma is sited as the subsampled frame says; if it does not say, at the
// left, between two rows.  Widening and then narrowing returns the same bits.
class ChromaConverter
{
public:
    // `to` has the size of `from` and the format that full_chroma_format() returns for it.
    void widen(const AVFrame *from, AVFrame *to);
    // The reverse of widen().
    void narrow(const AVFrame *from, AVFrame *to);

private:
    template <class Sample> class Work;

    template <class Change>
    void convert(const AVFrame *subsampled, const AVFrame *from, AVFrame *to, const Change &change);

    std::vector<std::byte> planes_[2], rows_[4];
};

} // namespace dnn_torch
