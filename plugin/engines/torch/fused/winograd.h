// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions of 3x3 samples with a quarter of the multiplications.
//
// Winograd's method F(4x4, 3x3): tiles of 6x6 samples of the input and the kernels are transformed,
// multiplied channel by channel, and transformed back to 4x4 samples of the result.  Sums are
// rounded in another way than those of a plain convolution, by about as much.  A sample's last bits
// depend on its place in its tile.  A sample that is not finite, or far larger than others, reaches
// all results of its tile.
#pragma once

#include "layer_end.h"
#include "rows.h"
#include "stages.h"
#include "vectors.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine_torch::fused
{

constexpr int64_t winograd_out = 4, winograd_in = 6; // rows and columns of a tile

// Rows of blocked layouts with as many lanes as block_lanes().  A row of the input that is null
// counts as zeros, and one of the result is not made.
struct WinogradRows {
    std::array<const float *, winograd_in> in;
    std::array<float *, winograd_out> out;
    int64_t in_width = 0, out_width = 0;
};

// Does not change once it is made: serves all threads.
class WinogradConvolution
{
public:
    // Whether there are enough channels for the transforms to pay.
    static bool takes(const Convolution &convolution, int64_t in_channels);

    WinogradConvolution(const Convolution &convolution, int64_t in_channels,
                        const std::vector<TailStep> &tail);

    // `scratch` begins at a cache line and has scratch_bytes(), zeros at first.  Returns false if
    // there is a sample of which results suffer that do not depend on it.
    bool make_rows(const WinogradRows &rows, void *scratch) const;

    size_t scratch_bytes() const;
    size_t fused_steps() const { return end_.steps(); }
    size_t weight_bytes() const { return weights_.size() * sizeof(float); }

private:
    size_t weight_place(int64_t place, int64_t in, int64_t out) const;
    template <int lanes> bool make_rows_of(const WinogradRows &rows, float *scratch) const;
    template <int lanes>
    void gather_tiles(const WinogradRows &rows, int64_t first, int64_t count, float *samples,
                      typename Vector<lanes>::Type &powers) const;
    template <int lanes>
    void multiply_tiles(const float *samples, int64_t count, float *products) const;
    template <int lanes>
    void spread_tiles(const float *products, int64_t first, int64_t count,
                      const WinogradRows &rows) const;

    int64_t lanes_, in_channels_, in_planes_, out_planes_, padding_;
    std::vector<float> weights_; // [place][pair of out planes][in channel][plane of pair][lane]
    LayerEnd end_;
};

} // namespace engine_torch::fused
