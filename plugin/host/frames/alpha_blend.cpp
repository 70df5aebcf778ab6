// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "alpha_blend.h"

#include "component_samples.h"
#include "formats.h"

#include <cmath>
#include <concepts>

namespace dnn_torch
{
namespace
{

template <class Sample>
void blend(const AVFrame *first, const AVFrame *second, double t, AVFrame &result, int component)
{
    const ComponentSamples from(first, component), other(second, component), to(&result, component);
    const Size size = component_size(&result, component);
    for (int y = 0; y < size.height; y++)
        for (int x = 0; x < size.width; x++) {
            const double a = *from.at<Sample>(x, y), b = *other.at<Sample>(x, y);
            const double mixed = a * (1 - t) + b * t;
            *to.at<Sample>(x, y) =
                static_cast<Sample>(std::integral<Sample> ? std::floor(mixed + 0.5) : mixed);
        }
}

} // namespace

void blend_alpha(const AVFrame *first, const AVFrame *second, double t, AVFrame &result)
{
    const AVPixFmtDescriptor &format = descriptor(&result);
    if (!has_alpha(format))
        return;
    const int alpha = format.nb_components - 1;
    if ((format.flags & AV_PIX_FMT_FLAG_FLOAT) != 0)
        blend<float>(first, second, t, result, alpha);
    else if (sample_bytes(format) == 1)
        blend<uint8_t>(first, second, t, result, alpha);
    else
        blend<uint16_t>(first, second, t, result, alpha);
}

} // namespace dnn_torch
