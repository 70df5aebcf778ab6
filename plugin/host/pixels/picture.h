// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Between frames and the planes of floats that a model sees: 1.0 is white,
// channels are R, G, B or luma alone.
#pragma once

#include "../ffmpeg_pointers.h"
#include "../pipeline/size_rule.h"

#include "dnn_torch/engine.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace dnn_torch {

// The channels that the model sees of a frame of that format: 3 for RGB, 1
// for grey and YUV.
int model_channels(AVPixelFormat format);

// Fills the planes of `images` that belong to its picture `index` from `frame`.
void read_picture(const AVFrame *frame, const DnnTorchImages &images, int index);

// Fills those planes of `frame` that the model sees from picture `index` of
// `images`: clamped and rounded to nearest, except that a frame of floats takes
// any number.  Returns whether there was a NaN, which counts as 0.
bool write_picture(const DnnTorchImages &images, int index, AVFrame *frame);

// Whether the format has planes that the model does not see.
bool has_chroma(AVPixelFormat format);

} // namespace dnn_torch
