// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Class maps of a segmentation: how likely each class is at each pixel, or which one it is.  Scales
// them, and draws them as pictures.
#pragma once

#include "host/size.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" {
#include <libavutil/frame.h>
}

namespace dnn_torch
{

// A view of the maps of one picture.  Element (c, y, x) is at c*class_step + y*row_step +
// x*column_step, counted in elements.
struct ClassMaps {
    const float *scores = nullptr;    // null: there are `numbers` instead
    const int64_t *numbers = nullptr; // one map of class numbers
    int classes = 0;
    Size size = {};
    ptrdiff_t class_step = 0, row_step = 0, column_step = 0;
};

// The part of the maps that covers a frame, in the maps' pixels.
struct MapWindow {
    double left = 0, top = 0, width = 0, height = 0;
};

// The position of a pixel between two values of the grid.
struct Between {
    ptrdiff_t first, second;
    float weight; // of the second
};

// Returns the positions of `count` pixels that cover `extent` values from `begin` on, in a grid of
// `limit` values.  Pixels are areas: the middle of the first value is at 0.5.
std::vector<Between> positions(double begin, double extent, int count, int limit);

// A value with weight 0 does not count, even if it is NaN.
inline float mixed(float one, float other, float weight)
{
    return weight > 0 ? one + (other - one) * weight : one;
}

// Scales maps to a frame, a row at a time.  Scores are interpolated before they are compared.
// Belongs to one thread.
class ClassRows
{
public:
    // `maps` outlives it.
    ClassRows(const ClassMaps &maps, const MapWindow &window, Size frame);

    // Fills `row` with the number of the likeliest class of each pixel of row `y`.  A number below
    // 0 or above 65535 becomes 0.
    void likeliest(int y, uint16_t *row);

    // Fills `row` with the probability, 0 to 1, that a pixel is of a class that is `chosen`.
    // Scores that are no probabilities go through softmax.
    void share(int y, const std::vector<bool> &chosen, float *row);

private:
    static bool are_shares(const ClassMaps &maps);
    void fill_row(int number, int y, float *row) const;
    void fill_rows(int y);
    void likeliest_of_one(int y, uint16_t *row);
    void nearest(int y, uint16_t *row) const;

    const ClassMaps &maps_;
    const size_t width_;
    const std::vector<Between> across_, down_;
    const bool are_shares_;
    std::vector<float> rows_; // one for each class
    std::vector<float> best_, sum_;
};

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
