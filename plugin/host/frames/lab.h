// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// CIE Lab, for models that predict colours from lightness.  Frames of Lab have an RGB format of
// floats, which hold L / 100, (a + 128) / 256 and (b + 128) / 256.
#pragma once

#include "convert.h"
#include "images.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

constexpr float lightness_of_white = 100, largest_a_or_b = 128;

// Convert a row in place.  R, G and B are taken as sRGB, with a white of 1 and D65; they may be
// beyond 0..1.  For gray, a and b are 0, except for float rounding.  Any thread.
void lab_of_rgb(const FloatRow &row, size_t width);
void rgb_of_lab(const FloatRow &row, size_t width);

// Fills picture `index` of `images` from a frame of Lab: with its lightness, or if the picture has
// three channels, with R, G and B of the gray of this lightness.
void read_lightness(const AVFrame *lab, const PictureNumbers &numbers, const Images &images,
                    int index);

// Replaces each a and b of a frame of Lab that was NaN by neutral grey: write_picture() wrote 0.
void make_grey_of_zeros(AVFrame *lab);

} // namespace dnn_torch
