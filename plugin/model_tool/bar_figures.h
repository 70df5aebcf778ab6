// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The figures that text and SVG bars show.  Thread-safe.
#pragma once

#include "bars.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

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
