// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "rearrange.h"

#include "simd_target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace engine_torch::fused
{
namespace
{

template <class Sample> void copy_samples(const Sample *from, Sample *to, int64_t count)
{
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Sample));
}

// Some samples of each pixel.  Common counts are constants, so that a copy is one instruction.
template <int64_t constant, class Sample>
void copy_runs(const Sample *from, int64_t from_step, Sample *to, int64_t to_step, int64_t pixels,
               int64_t length)
{
    const int64_t count = constant ? constant : length;
    for (int64_t x = 0; x < pixels; x++)
        copy_samples(from + x * from_step, to + x * to_step, count);
}

template <class Sample>
void copy_run(const ChannelsOfRow<const Sample> &from, const ChannelsOfRow<Sample> &to,
              int64_t length)
{
    const Sample *const source = from.row + from.layout.place(from.first, 0);
    Sample *const target = to.row + to.layout.place(to.first, 0);
    const int64_t from_step = from.layout.lanes, to_step = to.layout.lanes;
    const int64_t pixels = to.layout.width;
    if (length == from_step && length == to_step)
        return copy_samples(source, target, length * pixels);
    if (length == 1)
        return copy_runs<1>(source, from_step, target, to_step, pixels, 1);
    if (length == 8)
        return copy_runs<8>(source, from_step, target, to_step, pixels, 8);
    if (length == 16)
        return copy_runs<16>(source, from_step, target, to_step, pixels, 16);
    copy_runs<0>(source, from_step, target, to_step, pixels, length);
}

// One channel of one phase of a shuffle.
template <class Sample>
void copy_strided(const Sample *from, int64_t from_step, Sample *to, int64_t to_step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i * to_step] = from[i * from_step];
}

// Where an output pixel is between two pixels of the input, as PyTorch defines it.
struct Between {
    int64_t first, second;
    float weight; // of the second
};

Between between(int64_t place, int64_t factor, int64_t size)
{
    const float exact =
        std::max(0.0f, (static_cast<float>(place) + 0.5f) / static_cast<float>(factor) - 0.5f);
    const auto first = std::min(static_cast<int64_t>(exact), size - 1);
    return {first, std::min(first + 1, size - 1), exact - static_cast<float>(first)};
}

// The four pixels that an output pixel is computed from.
template <class Sample> struct Corners {
    const Sample *above_left, *above_right, *below_left, *below_right;
};

template <class Sample>
void mix(const Corners<Sample> &corners, float right, float below, Sample *to, int64_t count)
{
    const Corners<Sample> from = corners;
    run_vectorized([=]() __attribute__((always_inline)) {
        for (int64_t i = 0; i < count; i++) {
            const float upper =
                to_float(from.above_left[i]) * (1 - right) + to_float(from.above_right[i]) * right;
            const float lower =
                to_float(from.below_left[i]) * (1 - right) + to_float(from.below_right[i]) * right;
            assign(to[i], upper * (1 - below) + lower * below);
        }
    });
}

} // namespace

template <class Sample>
void copy_channels(ChannelsOfRow<const Sample> from, ChannelsOfRow<Sample> to, int64_t count)
{
    while (count) {
        const int64_t length = std::min({count, from.layout.lanes - from.first % from.layout.lanes,
                                         to.layout.lanes - to.first % to.layout.lanes});
        copy_run(from, to, length);
        from.first += length;
        to.first += length;
        count -= length;
    }
}

template <class Sample> void clear_padded_channels(Sample *row, const RowLayout &layout)
{
    const int64_t used = layout.channels % layout.lanes;
    if (!used)
        return;
    Sample *pixel = row + layout.place(layout.channels, 0);
    for (int64_t x = 0; x < layout.width; x++, pixel += layout.lanes)
        std::fill_n(pixel, layout.lanes - used, Sample());
}

template <class Sample>
void shuffle_row(const Shuffle &shuffle, int64_t y, const Sample *from, const RowLayout &in,
                 Sample *to, const RowLayout &out)
{
    const int64_t phase_y = (y + shuffle.crop.y) % shuffle.factor.y;
    for (int64_t channel = 0; channel < out.channels; channel++)
        for (int64_t x = 0; x < std::min(shuffle.factor.x, out.width); x++) {
            const int64_t phase_x = (x + shuffle.crop.x) % shuffle.factor.x;
            const int64_t source =
                (channel * shuffle.factor.y + phase_y) * shuffle.factor.x + phase_x;
            const int64_t count = (out.width - 1 - x) / shuffle.factor.x + 1;
            copy_strided(from + in.place(source, (x + shuffle.crop.x) / shuffle.factor.x), in.lanes,
                         to + out.place(channel, x), out.lanes * shuffle.factor.x, count);
        }
}

template <class Sample>
void unshuffle_row(const PixelUnshuffle &unshuffle, const Sample *from, const RowLayout &in,
                   Sample *to, const RowLayout &out)
{
    const int64_t factor = unshuffle.factor;
    for (int64_t channel = 0; channel < out.channels; channel++) {
        const int64_t y = channel / factor % factor, x = channel % factor;
        const Sample *const row = from + y * in.samples();
        copy_strided(row + in.place(channel / (factor * factor), x), in.lanes * factor,
                     to + out.place(channel, 0), out.lanes, out.width);
    }
}

template <class Sample>
void repeat_pixels(int64_t factor, const Sample *from, const RowLayout &in, Sample *to)
{
    const int64_t pixels = in.planes() * in.width;
    for (int64_t pixel = 0; pixel < pixels; pixel++)
        for (int64_t i = 0; i < factor; i++)
            copy_samples(from + pixel * in.lanes, to + (pixel * factor + i) * in.lanes, in.lanes);
}

template <class Sample>
void interpolate_row(const Interpolation &interpolation, int64_t y, const Sample *above,
                     const Sample *below, const RowLayout &in, Sample *to)
{
    const int64_t factor = interpolation.factor.x, width = in.width * factor;
    const float lower = between(y, interpolation.factor.y, INT64_MAX).weight;
    for (int64_t plane = 0; plane < in.planes(); plane++)
        for (int64_t x = 0; x < width; x++) {
            const Between columns = between(x, factor, in.width);
            const int64_t left = (plane * in.width + columns.first) * in.lanes;
            const int64_t right = (plane * in.width + columns.second) * in.lanes;
            mix<Sample>({above + left, above + right, below + left, below + right}, columns.weight,
                        lower, to + (plane * width + x) * in.lanes, in.lanes);
        }
}

template <class Sample>
void pad_row(const Padding &padding, const Sample *from, const RowLayout &in, Sample *to,
             const RowLayout &out)
{
    Sample constant;
    assign(constant, padding.value);
    std::fill_n(to, out.samples(), constant);
    for (int64_t plane = 0; from && plane < in.planes(); plane++)
        copy_samples(from + plane * in.width * in.lanes,
                     to + (plane * out.width + padding.left) * out.lanes, in.width * in.lanes);
    clear_padded_channels(to, out);
}

// Samples that are not finite have the largest exponent.
template <class Sample> bool is_finite(const Sample *row, const RowLayout &layout)
{
    constexpr uint32_t all_but_sign = 0x7fffffff, infinity = 0x7f800000;
    uint32_t largest = 0;
    for (int64_t i = 0; i < layout.samples(); i++)
        largest = std::max(largest, std::bit_cast<uint32_t>(to_float(row[i])) & all_but_sign);
    return largest < infinity;
}

template <class Sample>
void load_row(const float *from, const PictureStrides &strides, Sample *to, const RowLayout &out)
{
    for (int64_t channel = 0; channel < out.channels; channel++) {
        const float *source = from + channel * strides.channel;
        Sample *target = to + out.place(channel, 0);
        for (int64_t x = 0; x < out.width; x++)
            assign(target[x * out.lanes], source[x * strides.pixel]);
    }
}

template <class Sample>
void store_row(const Sample *from, const RowLayout &in, float *to, const PictureStrides &strides)
{
    for (int64_t channel = 0; channel < in.channels; channel++) {
        const Sample *source = from + in.place(channel, 0);
        float *target = to + channel * strides.channel;
        for (int64_t x = 0; x < in.width; x++)
            target[x * strides.pixel] = to_float(source[x * in.lanes]);
    }
}

#define INSTANTIATE(Sample)                                                                        \
    template void copy_channels(ChannelsOfRow<const Sample>, ChannelsOfRow<Sample>, int64_t);      \
    template void clear_padded_channels(Sample *, const RowLayout &);                              \
    template void shuffle_row(const Shuffle &, int64_t, const Sample *, const RowLayout &,         \
                              Sample *, const RowLayout &);                                        \
    template void unshuffle_row(const PixelUnshuffle &, const Sample *, const RowLayout &,         \
                                Sample *, const RowLayout &);                                      \
    template void repeat_pixels(int64_t, const Sample *, const RowLayout &, Sample *);             \
    template void interpolate_row(const Interpolation &, int64_t, const Sample *, const Sample *,  \
                                  const RowLayout &, Sample *);                                    \
    template void pad_row(const Padding &, const Sample *, const RowLayout &, Sample *,            \
                          const RowLayout &);                                                      \
    template bool is_finite(const Sample *, const RowLayout &);                                    \
    template void load_row(const float *, const PictureStrides &, Sample *, const RowLayout &);    \
    template void store_row(const Sample *, const RowLayout &, float *, const PictureStrides &)

INSTANTIATE(float);
INSTANTIATE(Bf16);

} // namespace engine_torch::fused
