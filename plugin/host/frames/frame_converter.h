// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts frames that bypass the model to the format of its results.
#pragma once

#include "host/ffmpeg_pointers.h"

namespace dnn_torch
{

// Belongs to one thread.  All frames of its calls have the same two formats and sizes.
class FrameConverter
{
public:
    // Fills `to` with the picture of `from`, scaled bicubically.  Throws Error if libswscale
    // cannot do that.
    void convert(const AVFrame *from, AVFrame *to);

private:
    void prepare(const AVFrame *from, const AVFrame *to);

    ScalerPointer scaler_;
};

// Sets the colour properties of a frame whose format differs from that of the frame whose
// properties it got.
void set_colour_properties(AVFrame *frame);

} // namespace dnn_torch
