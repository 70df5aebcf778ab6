// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies frames to a device as integer samples, which the device converts: the quantised samples
// as the format stores them.
#pragma once

#include "formats.h"
#include "host/ffmpeg_pointers.h"
#include "host/size.h"
#include "images.h"

namespace dnn_torch
{

// Whether a model's channels of this format can be copied unchanged: integers without
// a shift, and packed pixels in the order R, G, B.
bool can_pass_integers(AVPixelFormat format);

// Describes images without gaps between rows and planes.  The caller sets the memory.
Images integer_images(AVPixelFormat format, int batch, Size size);

// Copy the model's channels.  `images` has the layout that integer_images() returns.
void read_integers(const AVFrame *frame, const Images &images, int index);
void write_integers(const Images &images, int index, AVFrame *frame);

} // namespace dnn_torch
