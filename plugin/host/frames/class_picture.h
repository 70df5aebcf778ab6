// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Draws class maps as pictures.
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

// Returns the colour of a class as R, G and B, as the Pascal VOC challenge defines it: neighbouring
// numbers differ much, and 0 is black.
std::array<uint8_t, 3> colour_of_class(unsigned number);

// The classes to show, by number; empty: all.
using ShownClasses = std::vector<bool>;

// Fill `result`, which has the size of the rows.  Classes that are not shown become 0, which is
// black.  write_class_numbers() throws Error if a number is too large for the format.
void write_class_numbers(ClassRows &rows, const ShownClasses &shown, AVFrame *result);
void write_class_colours(ClassRows &rows, const ShownClasses &shown, AVFrame *result);

} // namespace dnn_torch
