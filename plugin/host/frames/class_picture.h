// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes pictures of class maps.
#pragma once

#include "class_maps.h"

#include <array>

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// Return the formats that can be written; the lists live for ever.
const AVPixelFormat *formats_of_class_numbers(int classes);
const AVPixelFormat *formats_of_class_colours();

// The colour of a class, as R, G and B.  Neighbouring numbers differ much, and 0 is black: the
// colours that the Pascal VOC challenge gave its classes.
std::array<uint8_t, 3> colour_of_class(unsigned number);

// Classes that are shown; empty: all.
using ShownClasses = std::vector<bool>;

// Fill `result`, which has the size of the rows.  What is not shown becomes 0, which is black.
// Throw Error if a number is too large for the format.
void write_class_numbers(ClassRows &rows, const ShownClasses &shown, AVFrame *result);
void write_class_colours(ClassRows &rows, const ShownClasses &shown, AVFrame *result);

} // namespace dnn_torch
