// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Rates as bars, for a terminal and as SVG.  Thread-safe; writes nothing itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

struct Bar {
    std::string label;
    double frames_per_second = 0;
    bool is_chosen = false; // the filter's own choice
};

// Where bars are printed.
struct BarPlace {
    size_t columns = 80;     // in a line
    bool has_blocks = false; // can show Unicode's block elements; otherwise bars are of '#'
};

// Describes standard output: a terminal's width, or 80 columns; blocks if the user's locale is
// UTF-8.
BarPlace place_of_output();

// Returns a line for each bar, scaled to the fastest, with frames/s and milliseconds per frame.
// Lines exceed the place's columns if it is too narrow for the figures.
std::string bars_as_text(const std::vector<Bar> &bars, const BarPlace &place);

struct BarChart {
    std::string title;    // drawn shortened if it is too long; the SVG's <title> has all of it
    std::string subtitle; // may be empty
    std::vector<Bar> bars;
    std::vector<std::string> footnotes; // lines below the bars
};

// Returns a whole SVG file.  Texts may contain anything.  It is readable on light and dark pages:
// its background follows the reader's colour scheme.
std::string bars_as_svg(const BarChart &chart);

// Returns the highest rate of all bars; 0 if there is none.
double fastest(const std::vector<Bar> &bars);

// Returns the bar's length relative to the longest, from 0 to 1.
double share_of(const Bar &bar, double most);

// Return "27.52 frames/s", and the time per frame at that rate: "36.34 ms", or "-" if it is 0.
std::string rate_of(const Bar &bar);
std::string time_of(const Bar &bar);

// Returns how many columns a UTF-8 text takes, if each character takes one.
size_t columns_of(std::string_view text);

} // namespace dnn_torch
