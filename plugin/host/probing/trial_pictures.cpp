// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trial_pictures.h"

#include "host/frames/tiling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace dnn_torch
{
namespace
{

// Returns a number between 0 and 1 for each place of an endless picture.
float noise_at(int channel, int x, int y)
{
    uint64_t hash =
        static_cast<uint64_t>(int64_t{y} * 8191 + x) * 3 + static_cast<uint64_t>(channel);
    hash = (hash + 1) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
    return static_cast<float>(hash >> 40) / static_cast<float>(1 << 24);
}

float content_at(Content content, int channel, int x, int y, int position, int length)
{
    constexpr int block = 211; // unlikely as a tile's size
    constexpr float rare = 0.001F;
    const float noise = noise_at(channel, x, y);
    switch (content) {
    case Content::dark:
        return 0.05F * noise;
    case Content::bright:
        return 1 - 0.05F * noise;
    case Content::points: // in the same places in all channels
        return noise_at(3, x, y) < rare ? 1.0F : 0.05F * noise;
    case Content::slope:
        return 0.1F * noise + 0.9F * static_cast<float>(position) / static_cast<float>(length);
    case Content::blocks:
        return 0.2F * noise + (position / block % 2 ? 0.8F : 0.0F);
    case Content::noise:
        break;
    }
    return 0.6F * noise + 0.4F * static_cast<float>((x * 3 + y * 2) % 97) / 97.0F;
}

} // namespace

size_t index_of(Size size, int channel, int x, int y)
{
    return (static_cast<size_t>(channel) * static_cast<size_t>(size.height) +
            static_cast<size_t>(y)) *
               static_cast<size_t>(size.width) +
           static_cast<size_t>(x);
}

int place_of(size_t index, Size size, Axis axis)
{
    const auto width = static_cast<size_t>(size.width), height = static_cast<size_t>(size.height);
    return static_cast<int>(axis == Axis::across ? index % width : index / width % height);
}

Size taken_size(const TrialParameters &parameters, int width, int height)
{
    if (parameters.only)
        return *parameters.only;
    return {round_up(std::max(width, parameters.least.width), parameters.multiple),
            round_up(std::max(height, parameters.least.height), parameters.multiple)};
}

Size strip(const TrialParameters &parameters, Axis axis, int length)
{
    constexpr int narrow = 16;
    return axis == Axis::across ? taken_size(parameters, length, narrow)
                                : taken_size(parameters, narrow, length);
}

TrialPicture trial_picture(const TrialParameters &parameters, Content content, Size size, Axis axis,
                           int from)
{
    const bool is_across = axis == Axis::across;
    TrialPicture picture = {.size = size, .samples = {}};
    picture.samples.reserve(index_of(size, parameters.channels, 0, 0));
    for (int c = 0; c < parameters.channels; c++)
        for (int y = 0; y < size.height; y++)
            for (int x = 0; x < size.width; x++)
                picture.samples.push_back(content_at(content, c, is_across ? from + x : x,
                                                     is_across ? y : from + y, is_across ? x : y,
                                                     along(size, axis)) *
                                              parameters.numbers.factor[number_of(c)] +
                                          parameters.numbers.offset[number_of(c)]);
    return picture;
}

void Resemblance::add(float one, float other)
{
    finite_ = finite_ && std::isfinite(one) && std::isfinite(other);
    if (!finite_)
        return;
    least_ = count_ ? std::min(least_, one) : one;
    largest_ = count_ ? std::max(largest_, one) : one;
    const float difference = std::abs(one - other);
    difference_ = std::max(difference_, difference);
    sum_ += difference;
    whole_ = whole_ && std::trunc(one) == one && std::trunc(other) == other;
    count_++;
    other_count_ += difference > 0 ? 1 : 0;
}

// The absolute tolerance `small` is for a result far smaller than the terms of its sum.
bool Resemblance::holds(const TrialParameters &parameters) const
{
    constexpr float rounding = 1e-4F, bits = 4e-6F, small = 2e-5F;
    const float range = largest_ - least_, size = std::max(std::abs(largest_), std::abs(least_));
    const auto count = static_cast<double>(std::max<size_t>(count_, 1));
    if (!finite_)
        return false;
    if (difference_ <= rounding * range + bits * size + small)
        return true;
    if (parameters.is_coarse)
        return difference_ <= range / 16 && sum_ / count <= static_cast<double>(range) / 512;
    return whole_ && difference_ <= 1 && static_cast<double>(other_count_) <= 1e-3 * count;
}

} // namespace dnn_torch
