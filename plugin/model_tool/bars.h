// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Rates as bars: for a terminal, and as a picture in SVG.  Any thread; writes nothing itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dnn_torch
{

struct Bar {
    std::string label;
    double frames_per_second = 0;
    bool is_chosen = false; // what the filter takes by itself
};

// Where bars are printed.
struct BarPlace {
    size_t columns = 80;     // in a line
    bool has_blocks = false; // shows block elements of Unicode; else bars are of '#'
};

// Returns the place that standard output is: a terminal's width, or 80 columns; blocks if the
// user's locale has UTF-8.
BarPlace place_of_output();

// Returns a line for each bar, scaled to the fastest, with frames/s and the milliseconds of a
// frame.  Lines are longer than the place if it is too narrow for the figures.
std::string bars_as_text(const std::vector<Bar> &bars, const BarPlace &place);

struct BarChart {
    std::string title; // shortened where it is too long; the whole text is in the picture's title
    std::string subtitle; // may be empty
    std::vector<Bar> bars;
    std::vector<std::string> remarks; // below the bars, a line each
};

// Returns a whole SVG file.  Texts may hold anything.  It is readable on light and dark pages:
// it has a background, which follows what the reader prefers.
std::string bars_as_svg(const BarChart &chart);

} // namespace dnn_torch
