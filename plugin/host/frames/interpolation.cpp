// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interpolation.h"

#include <algorithm>
#include <cmath>

namespace dnn_torch
{

std::vector<Between> positions(double begin, double extent, int count, int limit)
{
    std::vector<Between> all;
    all.reserve(static_cast<size_t>(count));
    const double last = limit - 1;
    for (int i = 0; i < count; i++) {
        const double place = begin + (i + 0.5) * extent / count - 0.5;
        const double within = std::clamp(place, 0.0, last);
        const double first = std::floor(within);
        all.push_back({.first = static_cast<ptrdiff_t>(first),
                       .second = static_cast<ptrdiff_t>(std::min(first + 1, last)),
                       .weight = static_cast<float>(within - first)});
    }
    return all;
}

} // namespace dnn_torch
