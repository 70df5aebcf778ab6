// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What goes around the model: chroma and alpha, and frames that the timeline excludes.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/size.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace dnn_torch
{

// Scales one component of frames, always between the same two sizes: as a grey
// picture of its own, so that no component is converted on the way.
class ComponentScaler
{
public:
    // Throws Error where libswscale cannot.
    void scale(const AVFrame *from, AVFrame *to, int component);

private:
    void prepare(Size old_size, Size new_size, AVPixelFormat grey);

    ScalerPointer scaler_;
    FramePointer before_, after_; // for samples that have others between them
};

// Belongs to one thread.  Scales bicubically where sizes differ and copies where not.
// Both frames of a call have one pixel format and stay with their sizes from call
// to call.  Scaled samples of float formats have 16 bits, between 0 and 1.
class FrameScaler
{
public:
    // Everything of `to` that a model of so many channels does not see and
    // write_picture() has not written; goes behind it.
    void carry_unseen(const AVFrame *from, AVFrame *to, int channels);

    // All of the frame; padding becomes all ones.
    void scale_frame(const AVFrame *from, AVFrame *to);

private:
    void scale_component(const AVFrame *from, AVFrame *to, int component);

    ComponentScaler full_, chroma_;
};

} // namespace dnn_torch
