// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sample_aspect.h"

#include <algorithm>
#include <cstdlib>

namespace dnn_torch
{
namespace
{

// Returns large / small, rounded to the nearest whole number from 1 on.
int times(int large, int small)
{
    return std::max((large + small / 2) / small, 1);
}

// Whether both axes were multiplied by the same whole number and then cut alike.
bool enlarged_alike(Size input, Size output)
{
    int scale = times(output.width, input.width);
    return scale == times(output.height, input.height) &&
           scale * input.width - output.width == scale * input.height - output.height;
}

// Whether both axes were divided by the same whole number, rounded up or down.
bool reduced_alike(Size input, Size output)
{
    int scale = times(input.width, output.width);
    return scale == times(input.height, output.height) &&
           std::abs(scale * output.width - input.width) < scale &&
           std::abs(scale * output.height - input.height) < scale;
}

bool turned(Size input, Size output)
{
    return input.width == output.height && input.height == output.width &&
           input.width != input.height;
}

} // namespace

AVRational sample_aspect_after(AVRational before, Size input, Size output)
{
    if (before.num <= 0 || before.den <= 0 || enlarged_alike(input, output) ||
        reduced_alike(input, output))
        return before;
    if (turned(input, output))
        return {before.den, before.num};
    AVRational stretched = av_mul_q({output.height, output.width}, {input.width, input.height});
    return av_mul_q(before, stretched);
}

} // namespace dnn_torch
