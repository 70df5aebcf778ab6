// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "depth.h"

#include "picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dnn_torch
{
namespace
{

// Beyond these, a factor would be infinite or 0.
constexpr float largest = 1e30F, smallest_span = 1e-30F;

// Has lanes so that the compiler can use vectors: it must not reorder comparisons by itself.
struct Extremes {
    static constexpr ptrdiff_t lanes = 16;
    std::array<float, lanes> low, high;

    Extremes()
    {
        low.fill(largest);
        high.fill(-largest);
    }

    // Ignores samples that are NaN, infinite or beyond `largest`.
    void add(size_t lane, float sample)
    {
        const bool is_sound = sample <= largest && sample >= -largest;
        low[lane] = is_sound && sample < low[lane] ? sample : low[lane];
        high[lane] = is_sound && sample > high[lane] ? sample : high[lane];
    }

    void add_row(const float *samples, ptrdiff_t step, ptrdiff_t width)
    {
        ptrdiff_t x = 0;
        for (; x + lanes <= width; x += lanes)
            for (ptrdiff_t lane = 0; lane < lanes; lane++)
                add(static_cast<size_t>(lane), samples[(x + lane) * step]);
        for (; x < width; x++)
            add(0, samples[x * step]);
    }
};

DepthLimits extremes_of(const Images &images, int index)
{
    Extremes found;
    for (int y = 0; y < images.height; y++) {
        const FloatRow row = image_row(images, index, y);
        found.add_row(row.channel[0], row.step, images.width);
    }
    return {.black = *std::min_element(found.low.begin(), found.low.end()),
            .white = *std::max_element(found.high.begin(), found.high.end())};
}

} // namespace

PictureNumbers depth_numbers(const Images &images, int index,
                             const std::optional<DepthLimits> &limits)
{
    const DepthLimits between = limits ? *limits : extremes_of(images, index);
    PictureNumbers numbers;
    numbers.low = between.black;
    numbers.high = between.white;
    if (limits)
        return numbers;
    // Without a span, every finite sample is `low`, which becomes black.
    if (!(numbers.high - numbers.low >= smallest_span))
        numbers.high = numbers.low + std::max(1.0F, std::abs(numbers.low));
    return numbers;
}

void limit_floats(AVFrame *frame)
{
    if (frame->format != AV_PIX_FMT_GRAYF32)
        return;
    for (int y = 0; y < frame->height; y++) {
        auto *const row = reinterpret_cast<float *>(frame->data[0] +
                                                    static_cast<ptrdiff_t>(y) * frame->linesize[0]);
        for (int x = 0; x < frame->width; x++)
            row[x] = std::min(std::max(row[x], 0.0F), 1.0F);
    }
}

void copy_floats(const Images &images, int index, const Images &to)
{
    for (int y = 0; y < images.height; y++) {
        const FloatRow row = image_row(images, index, y), copy = image_row(to, 0, y);
        for (ptrdiff_t x = 0; x < images.width; x++)
            copy.channel[0][x] = row.channel[0][x * row.step];
    }
}

Images images_in(const AVFrame *frame)
{
    auto *const samples = reinterpret_cast<float *>(frame->data[0]);
    Images images = float_planes(samples, 1, 1, {frame->width, frame->height});
    images.row_stride = frame->linesize[0];
    return images;
}

bool write_depth(const Images &images, int index, const std::optional<DepthLimits> &limits,
                 AVFrame *result)
{
    const PictureNumbers numbers = depth_numbers(images, index, limits);
    const bool saw_nan = write_picture(images, numbers, index, nullptr, result);
    limit_floats(result);
    return saw_nan;
}

} // namespace dnn_torch
