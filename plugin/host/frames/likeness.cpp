// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "likeness.h"

#include "component_samples.h"
#include "formats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dnn_torch
{
namespace
{

constexpr int block = 16;
constexpr double most_of_mean = 3.0 / 255, most_of_samples = 10.0 / 255; // of white

struct Differences {
    double sum = 0, absolute = 0;
};

template <class Sample>
Differences differences_in(const ComponentSamples &one, const ComponentSamples &other, int left,
                           int top, Size size)
{
    Differences found;
    for (int y = top; y < top + size.height; y++)
        for (int x = left; x < left + size.width; x++) {
            const double difference = static_cast<double>(*one.at<Sample>(x, y)) -
                                      static_cast<double>(*other.at<Sample>(x, y));
            found.sum += difference;
            found.absolute += std::abs(difference);
        }
    return found;
}

template <class Sample>
bool are_alike(const AVFrame *one, const AVFrame *other, int component, double white)
{
    const ComponentSamples first(one, component), second(other, component);
    const Size size = component_size(one, component);
    for (int top = 0; top < size.height; top += block)
        for (int left = 0; left < size.width; left += block) {
            const Size part = {std::min(block, size.width - left),
                               std::min(block, size.height - top)};
            const Differences found = differences_in<Sample>(first, second, left, top, part);
            const double all = white * part.width * part.height;
            // A NaN is no likeness.
            if (!(std::abs(found.sum) < most_of_mean * all &&
                  found.absolute < most_of_samples * all))
                return false;
        }
    return true;
}

} // namespace

bool show_the_same(const AVFrame *one, const AVFrame *other)
{
    const AVPixFmtDescriptor &format = descriptor(one);
    for (int i = 0; i < format.nb_components; i++) {
        const double white = (1 << format.comp[i].depth % 32) - 1;
        const bool same =
            (format.flags & AV_PIX_FMT_FLAG_FLOAT) != 0 ? are_alike<float>(one, other, i, 1)
            : sample_bytes(format) == 1
                ? are_alike<uint8_t>(one, other, i, white)
                : are_alike<uint16_t>(one, other, i, white * (1 << format.comp[i].shift));
        if (!same)
            return false;
    }
    return true;
}

} // namespace dnn_torch
