// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "winograd.h"

#include "simd_target.h"

#include <algorithm>
#include <cmath>

namespace engine_torch::fused
{
namespace
{

constexpr int64_t places = winograd_in * winograd_in;
// Tiles that are transformed and multiplied together: so many that weights are used often, and so
// few that their samples stay in the second level of the cache.
constexpr int64_t tiles_at_once = 12;
// With fewer channels the transforms cost more than they save.
constexpr int64_t fewest_in = 16, fewest_out = 8;

// The polynomials are evaluated at 0, +-a, +-b and infinity.  With these numbers samples of all
// places are about as large, which keeps rounding small.
constexpr double a = 0.70710678118654752440, b = 1.41421356237309504880;
constexpr double a2 = 0.5, b2 = 2;

// What a kernel's three taps are at each place: divided by what the products of the differences of
// the points come to.
std::array<double, winograd_in> transformed_taps(double first, double second, double third)
{
    const auto at = [&](double x) { return first + x * second + x * x * third; };
    const double of_a = 2 * a2 * (a2 - b2), of_b = 2 * b2 * (b2 - a2);
    return {first / (a2 * b2), at(a) / of_a, at(-a) / of_a, at(b) / of_b, at(-b) / of_b, third};
}

std::array<double, places> transformed_kernel(const float *kernel)
{
    double rows[winograd_in][3];
    for (int x = 0; x < 3; x++) {
        const auto column = transformed_taps(kernel[x], kernel[3 + x], kernel[6 + x]);
        for (int64_t y = 0; y < winograd_in; y++)
            rows[y][x] = column[static_cast<size_t>(y)];
    }
    std::array<double, places> made;
    for (int64_t y = 0; y < winograd_in; y++) {
        const auto row = transformed_taps(rows[y][0], rows[y][1], rows[y][2]);
        std::copy(row.begin(), row.end(), made.begin() + y * winograd_in);
    }
    return made;
}

template <class V> FUSED_INLINE void transform_in(const V (&d)[6], V (&t)[6])
{
    constexpr auto sum = static_cast<float>(a2 + b2);
    const V even_a = d[4] - static_cast<float>(b2) * d[2];
    const V odd_a = static_cast<float>(a) * d[3] - static_cast<float>(a * b2) * d[1];
    const V even_b = d[4] - static_cast<float>(a2) * d[2];
    const V odd_b = static_cast<float>(b) * d[3] - static_cast<float>(b * a2) * d[1];
    t[0] = d[4] - sum * d[2] + d[0];
    t[1] = even_a + odd_a;
    t[2] = even_a - odd_a;
    t[3] = even_b + odd_b;
    t[4] = even_b - odd_b;
    t[5] = d[5] - sum * d[3] + d[1];
}

template <class V> FUSED_INLINE void transform_out(const V (&m)[6], V (&y)[4])
{
    const V sum_a = m[1] + m[2], apart_a = m[1] - m[2];
    const V sum_b = m[3] + m[4], apart_b = m[3] - m[4];
    y[0] = m[0] + sum_a + sum_b;
    y[1] = static_cast<float>(a) * apart_a + static_cast<float>(b) * apart_b;
    y[2] = static_cast<float>(a2) * sum_a + static_cast<float>(b2) * sum_b;
    y[3] = static_cast<float>(a * a2) * apart_a + static_cast<float>(b * b2) * apart_b + m[5];
}

// Samples up to a hundred thousand are harmless.  The sum of fourth powers is a largest sample that
// costs little and does not lose a NaN.
constexpr float most_of_powers = 1e20F;

// What each sample of a tile is in at least one of.
constexpr bool tells_of_samples(int place)
{
    return place == 0 || place == 1 || place == 5;
}

// One plane of a tile of the input.  Samples of a line lie side by side.  Adds fourth powers of
// what it makes.
template <int lanes>
FUSED_INLINE void transform_tile(const float *const *lines, float *to, int64_t place_step,
                                 typename Vector<lanes>::Type &powers)
{
    using V = typename Vector<lanes>::Type;
    V rows[6][6];
    for (int y = 0; y < 6; y++) {
        V line[6];
        for (int x = 0; x < 6; x++)
            load(lines[y] + x * lanes, line[x]);
        transform_in(line, rows[y]);
    }
    for (int x = 0; x < 6; x++) {
        V column[6], made[6];
        for (int y = 0; y < 6; y++)
            column[y] = rows[y][x];
        transform_in(column, made);
        for (int y = 0; y < 6; y++) {
            store(made[y], to + (y * 6 + x) * place_step);
            if (const V square = made[y] * made[y]; tells_of_samples(x) && tells_of_samples(y))
                powers += square * square;
        }
    }
}

// Tiles times planes sums stay in registers.
template <int lanes, int planes>
FUSED_INLINE void multiply(const float *samples, int64_t tile_step, const float *weights,
                           int64_t in_channels, float *products, int64_t product_step)
{
    using V = typename Vector<lanes>::Type;
    constexpr int tiles = pixels_at_once<lanes>;
    V sums[tiles][planes] = {};
    add_products(samples, tile_step, weights, in_channels, sums);
#pragma GCC unroll 16
    for (int tile = 0; tile < tiles; tile++)
#pragma GCC unroll 2
        for (int plane = 0; plane < planes; plane++)
            store(sums[tile][plane], products + tile * product_step + plane * lanes);
}

} // namespace

bool WinogradConvolution::takes(const Convolution &it, int64_t in_channels)
{
    return it.kernel == Pair{3, 3} && it.stride == Pair{} && it.dilation == Pair{} &&
           it.groups == 1 && in_channels >= fewest_in && it.out_channels >= fewest_out;
}

WinogradConvolution::WinogradConvolution(const Convolution &it, int64_t in_channels,
                                         const std::vector<TailStep> &tail)
    : lanes_(block_lanes()), in_channels_(in_channels), in_planes_(divide_up(in_channels, lanes_)),
      out_planes_(divide_up(it.out_channels, lanes_)), padding_(it.padding.x),
      weights_(static_cast<size_t>(places * out_planes_ * in_channels * lanes_)), end_(it, tail)
{
    for (int64_t out = 0; out < it.out_channels; out++)
        for (int64_t in = 0; in < in_channels; in++) {
            const auto kernel =
                transformed_kernel(it.weights.data() + (out * in_channels + in) * 9);
            for (int64_t place = 0; place < places; place++)
                weights_[weight_place(place, in, out)] =
                    static_cast<float>(kernel[static_cast<size_t>(place)]);
        }
}

// Planes are multiplied in pairs, and the last one alone if their number is odd.
size_t WinogradConvolution::weight_place(int64_t place, int64_t in, int64_t out) const
{
    const int64_t plane = out / lanes_, pair = plane / 2 * 2;
    const int64_t together = std::min<int64_t>(2, out_planes_ - pair);
    return static_cast<size_t>((place * out_planes_ + pair) * in_channels_ * lanes_ +
                               (in * together + plane - pair) * lanes_ + out % lanes_);
}

size_t WinogradConvolution::scratch_bytes() const
{
    return static_cast<size_t>(places * tiles_at_once * (in_planes_ + out_planes_) * lanes_) *
           sizeof(float);
}

template <int lanes>
FUSED_INLINE void WinogradConvolution::gather_tiles(const WinogradRows &rows, int64_t first,
                                                    int64_t count, float *samples,
                                                    typename Vector<lanes>::Type &powers) const
{
    const int64_t tile_step = in_planes_ * lanes, place_step = tiles_at_once * tile_step;
    alignas(64) float edge[winograd_in][winograd_in * lanes];
    alignas(64) static constexpr float zeros[winograd_in * lanes] = {};
    for (int64_t tile = 0; tile < count; tile++) {
        const int64_t x = (first + tile) * winograd_out - padding_;
        const bool is_inside = x >= 0 && x + winograd_in <= rows.in_width;
        for (int64_t plane = 0; plane < in_planes_; plane++) {
            const float *lines[winograd_in];
            const int64_t start = plane * rows.in_width;
            for (size_t y = 0; y < winograd_in; y++) {
                lines[y] = rows.in[y] ? rows.in[y] + (start + x) * lanes : zeros;
                if (is_inside || !rows.in[y])
                    continue;
                for (int64_t column = 0; column < winograd_in; column++) {
                    const bool is_there = x + column >= 0 && x + column < rows.in_width;
                    const float *const from =
                        is_there ? rows.in[y] + (start + x + column) * lanes : zeros;
                    std::copy_n(from, lanes, edge[y] + column * lanes);
                }
                lines[y] = edge[y];
            }
            transform_tile<lanes>(lines, samples + tile * tile_step + plane * lanes, place_step,
                                  powers);
        }
    }
}

template <int lanes>
FUSED_INLINE void WinogradConvolution::multiply_tiles(const float *samples, int64_t count,
                                                      float *products) const
{
    constexpr int tiles = pixels_at_once<lanes>;
    const int64_t tile_step = in_planes_ * lanes, product_step = out_planes_ * lanes;
    for (int64_t place = 0; place < places; place++)
        for (int64_t plane = 0; plane < out_planes_; plane += 2) {
            const float *const weights =
                weights_.data() + (place * out_planes_ + plane) * in_channels_ * lanes;
            for (int64_t tile = 0; tile < count; tile += tiles) {
                const int64_t at = place * tiles_at_once + tile;
                const float *const from = samples + at * tile_step;
                float *const to = products + at * product_step + plane * lanes;
                if (plane + 1 < out_planes_)
                    multiply<lanes, 2>(from, tile_step, weights, in_channels_, to, product_step);
                else
                    multiply<lanes, 1>(from, tile_step, weights, in_channels_, to, product_step);
            }
        }
}

template <int lanes>
FUSED_INLINE void WinogradConvolution::spread_tiles(const float *products, int64_t first,
                                                    int64_t count, const WinogradRows &rows) const
{
    using V = typename Vector<lanes>::Type;
    const int64_t tile_step = out_planes_ * lanes, place_step = tiles_at_once * tile_step;
    for (int64_t tile = 0; tile < count; tile++) {
        const int64_t x = (first + tile) * winograd_out;
        const int64_t columns = std::min(winograd_out, rows.out_width - x);
        for (int64_t plane = 0; plane < out_planes_; plane++) {
            const float *const from = products + tile * tile_step + plane * lanes;
            V made[winograd_out][winograd_in];
            for (int column = 0; column < 6; column++) {
                V each[6], four[4];
                for (int y = 0; y < 6; y++)
                    load(from + (y * 6 + column) * place_step, each[y]);
                transform_out(each, four);
                for (int y = 0; y < 4; y++)
                    made[y][column] = four[y];
            }
            for (size_t y = 0; y < winograd_out; y++) {
                if (!rows.out[y])
                    continue;
                V four[4];
                transform_out(made[y], four);
                float *const to = rows.out[y] + (plane * rows.out_width + x) * lanes;
                for (int64_t column = 0; column < columns; column++)
                    end_.store_sum(four[column], plane, to + column * lanes);
            }
        }
    }
}

template <int lanes>
FUSED_INLINE bool WinogradConvolution::make_rows_of(const WinogradRows &rows, float *scratch) const
{
    typename Vector<lanes>::Type powers = {};
    float *const samples = scratch;
    float *const products = scratch + places * tiles_at_once * in_planes_ * lanes;
    const int64_t tiles = divide_up(rows.out_width, winograd_out);
    for (int64_t first = 0; first < tiles; first += tiles_at_once) {
        const int64_t count = std::min(tiles_at_once, tiles - first);
        gather_tiles<lanes>(rows, first, count, samples, powers);
        multiply_tiles<lanes>(samples, count, products);
        spread_tiles<lanes>(products, first, count, rows);
    }
    bool is_harmless = true;
    for (int lane = 0; lane < lanes; lane++)
        is_harmless = is_harmless && powers[lane] < most_of_powers;
    return is_harmless;
}

bool WinogradConvolution::make_rows(const WinogradRows &rows, void *scratch) const
{
    const auto *const self = this;
    const WinogradRows *const which = &rows;
    auto *const memory = static_cast<float *>(scratch);
    bool is_harmless = false;
    bool *const told = &is_harmless;
    if (lanes_ == 16)
        run_vectorized([=]() __attribute__((always_inline)) {
            *told = self->make_rows_of<16>(*which, memory);
        });
    else
        run_vectorized([=]() __attribute__((always_inline)) {
            *told = self->make_rows_of<8>(*which, memory);
        });
    return is_harmless;
}

} // namespace engine_torch::fused
