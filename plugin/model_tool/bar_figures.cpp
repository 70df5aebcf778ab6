// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "bar_figures.h"

#include <algorithm>
#include <cstdio>

namespace dnn_torch
{
namespace
{

std::string with_two_digits(double number)
{
    char text[32];
    snprintf(text, sizeof(text), "%.2f", number);
    return text;
}

} // namespace

double fastest(const std::vector<Bar> &bars)
{
    double most = 0;
    for (const Bar &bar : bars)
        most = std::max(most, bar.frames_per_second);
    return most;
}

double share_of(const Bar &bar, double most)
{
    return most > 0 && bar.frames_per_second > 0 ? bar.frames_per_second / most : 0;
}

std::string rate_of(const Bar &bar)
{
    return with_two_digits(std::max(bar.frames_per_second, 0.0)) + " frames/s";
}

std::string time_of(const Bar &bar)
{
    return bar.frames_per_second > 0 ? with_two_digits(1000 / bar.frames_per_second) + " ms" : "-";
}

size_t columns_of(std::string_view text)
{
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) >> 6) != 2; };
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins));
}

} // namespace dnn_torch
