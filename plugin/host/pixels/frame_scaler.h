// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What goes around the model: chroma planes, and frames that the timeline excludes.
#pragma once

#include "../ffmpeg_pointers.h"

namespace dnn_torch {

// Belongs to one thread.  Scales bicubically where sizes differ and copies where not.
class FrameScaler
{
public:
    // Both frames have one pixel format and stay with their sizes from call to call.
    void scale_chroma(const AVFrame *from, AVFrame *to);
    void scale_frame(const AVFrame *from, AVFrame *to);

private:
    ScalerPointer chroma_, frame_;
};

} // namespace dnn_torch
