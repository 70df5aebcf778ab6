// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Sizes of files and memory for people.
#pragma once

#include <cstdio>
#include <string>

namespace dnn_torch
{

// Returns "512 bytes", "1.5 KiB", "234 MiB".
inline std::string bytes_in_words(double bytes)
{
    constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB"};
    constexpr int last = 3;
    int unit = 0;
    for (; bytes >= 1024 && unit < last; unit++)
        bytes /= 1024;
    char text[32];
    snprintf(text, sizeof(text), "%.*f %s", unit && bytes < 100 ? 1 : 0, bytes, units[unit]);
    return text;
}

} // namespace dnn_torch
