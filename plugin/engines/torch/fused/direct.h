// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions of any kernel, sum by sum.  oneDNN 2.6 reaches two thirds of what a core with AVX2
// can do, where a loop that keeps twelve sums in registers reaches nine tenths.  Its products of
// matrices, which it uses for kernels that its loops do not support, were seen to be wrong.
#pragma once

#include "layer_end.h"
#include "rows.h"
#include "stages.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine_torch::fused
{

// Does not change once it is made: all threads may use it.
class DirectConvolution
{
public:
    // Groups are computed as one convolution of all channels, with weights of zero.
    DirectConvolution(const Convolution &convolution, int64_t in_channels,
                      const std::vector<TailStep> &tail);

    // Inputs with few channels, such as frames, are interleaved, all others blocked, like results.
    Arrangement in() const
    {
        return lanes_in_ == block_lanes() ? Arrangement::blocked : Arrangement::interleaved;
    }

    // Makes one row.  `rows` has a row of the input for each row of the kernel; null counts as
    // zeros.  `scratch` has scratch_bytes().
    void make_row(const float *const *rows, int64_t in_width, float *to, int64_t out_width,
                  void *scratch) const;

    size_t fused_steps() const { return end_.steps(); }
    size_t scratch_bytes() const;
    size_t weight_bytes() const { return weights_.size() * sizeof(float); }
    int64_t kernel_rows() const { return kernel_.y; }

    // Whether there are weights of zero that the model does not have.  They change results only if
    // samples are not finite.
    bool is_filled_up() const { return is_filled_up_; }

private:
    struct Row;

    size_t weight_place(int64_t out, int64_t y, int64_t x, int64_t in) const;
    int64_t span() const;
    template <int lanes> void make_row_of(const Row &row) const;
    template <int lanes, int planes> void make_planes(const Row &row, int64_t plane) const;
    void gather(const Row &row, int64_t first) const;

    Pair kernel_, stride_, dilation_, padding_;
    int64_t lanes_in_, in_planes_, out_planes_;
    // [pair of out planes][kernel row][in plane][kernel column][in lane][plane of pair][lane]
    std::vector<float> weights_;
    LayerEnd end_;
    bool is_filled_up_;
};

} // namespace engine_torch::fused
