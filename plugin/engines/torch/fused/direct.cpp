// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "direct.h"

#include "simd_target.h"

#include <algorithm>

namespace engine_torch::fused
{
namespace
{

// Up to this many channels are interleaved: they would leave most of a block empty.
constexpr int64_t most_interleaved = 4;

} // namespace

// The arguments of make_row().
struct DirectConvolution::Row {
    const float *const *rows;
    int64_t in_width;
    float *to;
    int64_t out_width;
    float *scratch;
};

DirectConvolution::DirectConvolution(const Convolution &it, int64_t in_channels,
                                     const std::vector<TailStep> &tail)
    : kernel_(it.kernel), stride_(it.stride), dilation_(it.dilation), padding_(it.padding),
      lanes_in_(in_channels <= most_interleaved ? in_channels : block_lanes()),
      in_planes_(divide_up(in_channels, lanes_in_)),
      out_planes_(divide_up(it.out_channels, block_lanes())),
      weights_(static_cast<size_t>(out_planes_ * block_lanes() * kernel_.y * kernel_.x *
                                   in_planes_ * lanes_in_)),
      end_(it, tail), is_filled_up_(it.groups > 1)
{
    const int64_t in_each = in_channels / it.groups, out_each = it.out_channels / it.groups;
    for (int64_t out = 0; out < it.out_channels; out++)
        for (int64_t in = 0; in < in_each; in++)
            for (int64_t y = 0; y < kernel_.y; y++)
                for (int64_t x = 0; x < kernel_.x; x++)
                    weights_[weight_place(out, y, x, out / out_each * in_each + in)] =
                        it.weights[static_cast<size_t>(
                            ((out * in_each + in) * kernel_.y + y) * kernel_.x + x)];
}

size_t DirectConvolution::weight_place(int64_t out, int64_t y, int64_t x, int64_t in) const
{
    const int64_t lanes = block_lanes(), plane = out / lanes, pair = plane / 2 * 2;
    const int64_t together = std::min<int64_t>(2, out_planes_ - pair);
    const int64_t samples = kernel_.y * in_planes_ * kernel_.x * lanes_in_;
    const int64_t sample =
        ((y * in_planes_ + in / lanes_in_) * kernel_.x + x) * lanes_in_ + in % lanes_in_;
    return static_cast<size_t>((pair * samples + sample * together + plane - pair) * lanes +
                               out % lanes);
}

// How many columns of the input are read for the pixels that are computed together.
int64_t DirectConvolution::span() const
{
    const int64_t pixels = block_lanes() == 16 ? pixels_at_once<16> : pixels_at_once<8>;
    return (pixels - 1) * stride_.x + (kernel_.x - 1) * dilation_.x + 1;
}

size_t DirectConvolution::scratch_bytes() const
{
    return static_cast<size_t>(kernel_.y * in_planes_ * span() * lanes_in_) * sizeof(float);
}

// Puts the columns from `first` on into the scratch memory, with zeros outside the picture.
FUSED_INLINE void DirectConvolution::gather(const Row &row, int64_t first) const
{
    const int64_t columns = span();
    float *to = row.scratch;
    for (int64_t y = 0; y < kernel_.y; y++)
        for (int64_t plane = 0; plane < in_planes_; plane++)
            for (int64_t x = first; x < first + columns; x++, to += lanes_in_) {
                const bool is_there = row.rows[y] && x >= 0 && x < row.in_width;
                for (int64_t lane = 0; lane < lanes_in_; lane++)
                    to[lane] =
                        is_there ? row.rows[y][(plane * row.in_width + x) * lanes_in_ + lane] : 0;
            }
}

template <int lanes, int planes>
FUSED_INLINE void DirectConvolution::make_planes(const Row &row, int64_t plane) const
{
    using V = typename Vector<lanes>::Type;
    constexpr int pixels = pixels_at_once<lanes>;
    const int64_t samples = kernel_.x * lanes_in_, columns = span();
    const float *const all_weights =
        weights_.data() + plane * kernel_.y * in_planes_ * samples * lanes;
    for (int64_t x = 0; x < row.out_width; x += pixels) {
        const int64_t first = x * stride_.x - padding_.x;
        const bool is_inside = first >= 0 && first + columns <= row.in_width;
        if (!is_inside)
            gather(row, first);
        V sums[pixels][planes] = {};
        const float *weights = all_weights;
        for (int64_t y = 0; y < kernel_.y; y++)
            for (int64_t in = 0; in < in_planes_; in++, weights += samples * planes * lanes) {
                if (!row.rows[y])
                    continue;
                const float *const from =
                    is_inside ? row.rows[y] + (in * row.in_width + first) * lanes_in_
                              : row.scratch + (y * in_planes_ + in) * columns * lanes_in_;
                // Taps are contiguous unless they are dilated.
                const int64_t runs = dilation_.x == 1 ? 1 : kernel_.x;
                const int64_t count = samples / runs;
                for (int64_t run = 0; run < runs; run++)
                    add_products(from + run * dilation_.x * lanes_in_, stride_.x * lanes_in_,
                                 weights + run * count * planes * lanes, count, sums);
            }
#pragma GCC unroll 16
        for (int pixel = 0; pixel < pixels; pixel++) {
            if (x + pixel >= row.out_width)
                continue;
#pragma GCC unroll 2
            for (int i = 0; i < planes; i++)
                end_.store_sum(sums[pixel][i], plane + i,
                               row.to + ((plane + i) * row.out_width + x + pixel) * lanes);
        }
    }
}

template <int lanes> FUSED_INLINE void DirectConvolution::make_row_of(const Row &row) const
{
    int64_t plane = 0;
    for (; plane + 1 < out_planes_; plane += 2)
        make_planes<lanes, 2>(row, plane);
    if (plane < out_planes_)
        make_planes<lanes, 1>(row, plane);
}

void DirectConvolution::make_row(const float *const *rows, int64_t in_width, float *to,
                                 int64_t out_width, void *scratch) const
{
    const Row row = {rows, in_width, to, out_width, static_cast<float *>(scratch)};
    const auto *const self = this;
    const Row *const which = &row;
    if (block_lanes() == 16)
        run_vectorized([=]() __attribute__((always_inline)) { self->make_row_of<16>(*which); });
    else
        run_vectorized([=]() __attribute__((always_inline)) { self->make_row_of<8>(*which); });
}

} // namespace engine_torch::fused
