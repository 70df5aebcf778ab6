// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Scales what the model does not see: chroma, alpha, and frames that the timeline excludes.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/size.h"
#include "picture.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace dnn_torch
{

// libswscale's kernels: SWS_BICUBIC; SWS_LANCZOS and SWS_BILINEAR, both accurately rounded.
extern const int bicubic, sharp, bilinear;

// Copies the planes that hold nothing of `part`.  Both frames have the same size and format.
// write_picture() copies what shares a plane with the part.
void copy_all_but(Part part, const AVFrame *from, AVFrame *to);

// Scales one component of frames, always between the same two sizes.  The component is scaled as a
// grey picture, so that libswscale converts nothing.
class ComponentScaler
{
public:
    // `kernel` is a set of libswscale's flags.
    explicit ComponentScaler(int kernel) : kernel_(kernel) {}

    // Throws Error if libswscale cannot scale them.
    void scale(const AVFrame *from, AVFrame *to, int component);

private:
    void prepare(Size old_size, Size new_size, AVPixelFormat grey);

    int kernel_;
    ScalerPointer scaler_;
    FramePointer before_, after_; // for samples that are not side by side
};

// Belongs to one thread.  Scales bicubically, or copies if the sizes are the same.  Both frames of
// a call have the same pixel format; their sizes are the same in all calls.  libswscale scales
// float formats with 16 bits, between 0 and 1.
class FrameScaler
{
public:
    // Fills what a model with this number of channels does not see, unless write_picture() fills
    // it.  Must be called after write_picture().
    void carry_unseen(const AVFrame *from, AVFrame *to, int channels);

    // Fills the whole frame.  Padding becomes all ones.
    void scale_frame(const AVFrame *from, AVFrame *to);

private:
    void scale_component(const AVFrame *from, AVFrame *to, int component);

    ComponentScaler full_{bicubic}, chroma_{bicubic};
};

// Scales a model's output to another size, with a sharp kernel.  Belongs to one thread.  Formats
// and sizes are constrained as by FrameScaler.
class ResultScaler
{
public:
    // Fills `components` of `result` from `output`, and the others from `source`.
    void scale(const AVFrame *output, const AVFrame *source, AVFrame *result,
               const Components &components);

private:
    ComponentScaler seen_{sharp}, full_{bicubic}, chroma_{bicubic};
};

} // namespace dnn_torch
