// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What bars of all kinds show.  Any thread.
#pragma once

#include "bars.h"

#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// The most frames/s of all bars; 0: none has any.
double fastest(const std::vector<Bar> &bars);

// From 0 to 1: the bar's length as a share of the longest.
double share_of(const Bar &bar, double most);

// "27.52 frames/s", and the time of a frame at that rate: "36.34 ms", or "-" if nothing came out.
std::string rate_of(const Bar &bar);
std::string time_of(const Bar &bar);

// How many columns a UTF-8 text takes, where each character takes one.
size_t columns_of(std::string_view text);

} // namespace dnn_torch
