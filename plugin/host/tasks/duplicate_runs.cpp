// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "duplicate_runs.h"

#include "host/frames/component_samples.h"
#include "host/frames/formats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

extern "C" {
#include <libavutil/frame.h>
}

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

// Whether two frames of the same size and format show the same but for noise: in no block of 16x16
// samples does their mean differ by 3 of 255 or more, nor do their samples, on average, by 10.
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

constexpr size_t most_repeats = 4; // more of them are a still picture

} // namespace

bool DuplicateRuns::repeats(const FrameItem &item) const
{
    return first_ && !item.starts_anew && !item.bypass && item.frame->width == first_->width &&
           item.frame->height == first_->height && item.frame->format == first_->format &&
           show_the_same(first_.get(), item.frame.get());
}

// What is held stays before a frame that does not belong to it: nothing lies between them.
std::vector<FrameItem> DuplicateRuns::pass(FrameItem item)
{
    std::vector<FrameItem> out;
    if (repeats(item)) {
        held_.push_back(std::move(item));
        is_still_ = is_still_ || held_.size() > most_repeats;
        return is_still_ ? std::exchange(held_, {}) : std::move(out);
    }
    if (item.starts_anew || item.bypass)
        out = std::move(held_);
    held_.clear();
    is_still_ = false;
    first_ = item.bypass ? nullptr : new_reference(item.frame.get());
    out.push_back(std::move(item));
    return out;
}

std::vector<FrameItem> DuplicateRuns::flush()
{
    first_.reset();
    is_still_ = false;
    return std::exchange(held_, {});
}

} // namespace dnn_torch
