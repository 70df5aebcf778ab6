// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// CIE Lab, for models that make colours of lightness.  Frames of Lab have a format of R, G and B
// as floats, which hold L / 100, (a + 128) / 256 and (b + 128) / 256.
#pragma once

#include "convert.h"
#include "images.h"
#include "picture_numbers.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

constexpr float lightness_of_white = 100, largest_a_or_b = 128;

// Convert a row in place.  R, G and B are taken for those of sRGB, white being 1 of D65; they may
// lie beyond 0..1.  Gray has an a and a b of 0, but for the rounding of floats.  Any thread.
void lab_of_rgb(const FloatRow &row, size_t width);
void rgb_of_lab(const FloatRow &row, size_t width);

// Fills picture `index` of `images` from a frame of Lab: with its lightness, or if the picture has
// three channels, with R, G and B of the gray that has this lightness.
void read_lightness(const AVFrame *lab, const PictureNumbers &numbers, const Images &images,
                    int index);

// Takes the colours from samples of a frame of Lab whose a or b was no number: write_picture() left
// its 0 there.
void make_grey_of_zeros(AVFrame *lab);

} // namespace dnn_torch
