// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames that go to a model in their own codes, for a device to convert.
#pragma once

#include "formats.h"
#include "host/ffmpeg_pointers.h"
#include "host/size.h"
#include "images.h"

namespace dnn_torch
{

// The format whose codes pass for frames of that one: itself, or RGB of as many bits for
// YUV that a model sees as RGB.
AVPixelFormat format_of_codes(AVPixelFormat format, int channels);

// Whether what a model sees of the format can be copied as it lies: integers
// without a shift, R, G, B in this order if they lie side by side.
bool can_pass_codes(AVPixelFormat format);

// A view without gaps of such codes; its memory is the caller's matter.
Images code_images(AVPixelFormat format, int batch, Size size);

// Copies what the model sees, or makes it of the frame's colours; the layout of `images`
// is that of code_images(format_of_codes()).
void read_codes(const AVFrame *frame, const Images &images, int index);
void write_codes(const Images &images, int index, AVFrame *frame);

} // namespace dnn_torch
