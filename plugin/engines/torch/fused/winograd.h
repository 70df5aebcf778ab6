// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions of 3x3 samples with a quarter of the multiplications.
//
// Winograd's method F(4x4, 3x3): tiles of 6x6 samples of the input and the kernels are transformed,
// multiplied channel by channel, and transformed back to 4x4 samples of the result.  Sums are
// rounded in another way than those of a plain convolution, by about as much.  A sample's last bits
// depend on its place in its tile.
//
// Through rounding a sample affects all results of its tile, also those that do not depend on it.
// So tiles whose samples differ too much are computed without transforms: see most_apart.
//
// In bf16 rows and what is multiplied have 16 bits; transforms and sums have 32.
#pragma once

#include "bf16_units.h"
#include "direct.h"
#include "gains.h"
#include "layer_end.h"
#include "rows.h"
#include "stages.h"
#include "vectors.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace engine_torch::fused
{

constexpr int64_t winograd_out = 4, winograd_in = 6; // rows and columns of a tile

// Rows of blocked layouts with as many lanes as block_lanes().  A row of the input that is null
// counts as zeros, and one of the result is not made.
template <class Sample> struct WinogradRows {
    std::array<const Sample *, winograd_in> in = {};
    std::array<Sample *, winograd_out> out = {};
    int64_t in_width = 0, out_width = 0;
};

// Does not change once it is made: all threads may use it.
class WinogradConvolution
{
public:
    // Whether there are enough channels for the transforms to pay.
    static bool takes(const Convolution &convolution, int64_t in_channels);

    // Whether there are fast products of two samples in that precision.
    static bool computes(Precision precision);

    // `gains` say how much a unit of each of the convolution's results may contribute to the
    // network's (see gains.h).
    WinogradConvolution(const Convolution &convolution, int64_t in_channels,
                        const std::vector<TailStep> &tail, Precision precision, const Gains &gains);

    // `scratch` begins at a cache line and has scratch_bytes(), zeros at first.  Returns how many
    // tiles were computed without transforms.  Sample is that of the precision.
    template <class Sample>
    int64_t make_rows(const WinogradRows<Sample> &rows, void *scratch) const;

    size_t scratch_bytes() const { return sample_bytes() + product_bytes(); }
    size_t fused_steps() const { return end_.steps(); }
    size_t weight_bytes() const;

private:
    // How far apart transformed samples or products are, from tile to tile and from place to place.
    struct Steps {
        int64_t tile, place;
    };

    Steps steps_of(int64_t planes) const;
    size_t sample_bytes() const;
    size_t product_bytes() const;
    void keep_weights(const Convolution &it, int64_t plane, int64_t in);
    void keep_shares(const Convolution &it, const Gains &gains);
    template <int lanes, class Sample>
    int64_t make_rows_of(const WinogradRows<Sample> &rows, std::byte *scratch) const;
    // Sets a bit of `harmed` for each tile that transforms would harm.
    template <int lanes, class Sample>
    void gather_tiles(const WinogradRows<Sample> &rows, int64_t first, int64_t count,
                      Sample *samples, uint32_t &harmed) const;
    template <class Sample>
    void copy_tile(const WinogradRows<Sample> &rows, int64_t x, float *to) const;
    template <class Sample>
    bool make_directly(const WinogradRows<Sample> &rows, int64_t tile, std::byte *scratch) const;
    template <int lanes>
    void multiply_tiles(const float *samples, int64_t count, float *products) const;
    template <int lanes>
    void multiply_tiles(const Bf16 *samples, int64_t count, float *products) const;
    template <int lanes, class Sample>
    void spread_tiles(const float *products, int64_t first, int64_t count,
                      const WinogradRows<Sample> &rows) const;

    const DirectConvolution &direct() const;

    Precision precision_;
    int64_t lanes_, in_channels_, in_planes_, out_planes_, padding_;
    std::vector<float> weights_; // [place][pair of out planes][in channel][plane of pair][lane]
    // [place][pair of out planes][pair of in channels][plane of pair][lane][channel of pair]
    std::vector<Bf16> bf16_weights_;
    // By padded channel of the input: the square of the most that a unit of it may contribute to
    // the network's results, with the largest as unit.
    std::vector<float> shares_;
    LayerEnd end_;
    const Convolution convolution_;
    const std::vector<TailStep> tail_;
    mutable std::once_flag direct_is_made_;
    mutable std::unique_ptr<const DirectConvolution> direct_; // few videos need it
};

} // namespace engine_torch::fused
