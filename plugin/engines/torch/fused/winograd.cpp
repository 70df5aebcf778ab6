// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "winograd.h"

#include "simd_target.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

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
constexpr size_t most_lanes = 16; // of all processors

// The polynomials are evaluated at 0, +-a, +-b and infinity.  With these numbers samples of all
// places are about as large, which keeps rounding small.
constexpr double a = 0.70710678118654752440, b = 1.41421356237309504880;
constexpr double a2 = 0.5, b2 = 2;

// What taps or weights are in the kernels of as many results as a vector has lanes.
using Lanes = std::array<double, most_lanes>;

// What a kernel's three taps are at each place: divided by what the products of the differences of
// the points come to.
std::array<Lanes, winograd_in> transformed_taps(const Lanes &first, const Lanes &second,
                                                const Lanes &third)
{
    constexpr double of_a = 2 * a2 * (a2 - b2), of_b = 2 * b2 * (b2 - a2);
    std::array<Lanes, winograd_in> made;
    for (size_t lane = 0; lane < most_lanes; lane++) {
        const auto at = [&](double x) {
            return first[lane] + x * second[lane] + x * x * third[lane];
        };
        made[0][lane] = first[lane] / (a2 * b2);
        made[1][lane] = at(a) / of_a;
        made[2][lane] = at(-a) / of_a;
        made[3][lane] = at(b) / of_b;
        made[4][lane] = at(-b) / of_b;
        made[5][lane] = third[lane];
    }
    return made;
}

std::array<Lanes, places> transformed_kernels(const std::array<Lanes, 9> &kernels)
{
    std::array<std::array<Lanes, winograd_in>, 3> columns;
    for (size_t x = 0; x < columns.size(); x++)
        columns[x] = transformed_taps(kernels[x], kernels[3 + x], kernels[6 + x]);
    std::array<Lanes, places> made;
    for (size_t y = 0; y < winograd_in; y++) {
        const auto row = transformed_taps(columns[0][y], columns[1][y], columns[2][y]);
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
template <int lanes, class Sample>
FUSED_INLINE void transform_tile(const Sample *const *lines, float *to, int64_t place_step,
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

// The same for either kind of samples.
template <int lanes>
FUSED_INLINE void transform_and_keep(const float *const *lines, float *to, int64_t place_step,
                                     typename Vector<lanes>::Type &powers)
{
    transform_tile<lanes>(lines, to, place_step, powers);
}

template <int lanes>
FUSED_INLINE void transform_and_keep(const Bf16 *const *lines, Bf16 *to, int64_t place_step,
                                     typename Vector<lanes>::Type &powers)
{
    alignas(64) float wide[places * lanes];
    transform_tile<lanes>(lines, wide, lanes, powers);
    round_vectors(wide, places, to, place_step);
}

// Stores what becomes of the sums of some pixels of a row.
template <class V>
FUSED_INLINE void store_pixels(const LayerEnd &end, const V *sums, int64_t count, int64_t plane,
                               float *to)
{
    constexpr int64_t lanes = sizeof(V) / sizeof(float);
    for (int64_t pixel = 0; pixel < count; pixel++)
        end.store_sum(sums[pixel], plane, to + pixel * lanes);
}

template <class V>
FUSED_INLINE void store_pixels(const LayerEnd &end, const V *sums, int64_t count, int64_t plane,
                               Bf16 *to)
{
    constexpr int64_t lanes = sizeof(V) / sizeof(float);
    alignas(64) float wide[winograd_out * lanes];
    store_pixels(end, sums, count, plane, wide);
    round_vectors(wide, count, to, lanes);
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

bool WinogradConvolution::computes(Precision precision)
{
    return precision == Precision::fp32 || has_bf16_units();
}

WinogradConvolution::WinogradConvolution(const Convolution &it, int64_t in_channels,
                                         const std::vector<TailStep> &tail, Precision precision)
    : precision_(precision), lanes_(block_lanes()), in_channels_(in_channels),
      in_planes_(divide_up(in_channels, lanes_)), out_planes_(divide_up(it.out_channels, lanes_)),
      padding_(it.padding.x), end_(it, tail)
{
    const int64_t count = places * out_planes_ * lanes_;
    if (precision == Precision::bf16)
        bf16_weights_.resize(static_cast<size_t>(count * divide_up(in_channels, 2) * 2));
    else
        weights_.resize(static_cast<size_t>(count * in_channels));
    for (int64_t plane = 0; plane < out_planes_; plane++)
        for (int64_t in = 0; in < in_channels; in++)
            keep_weights(it, plane, in);
}

// A whole plane at a time, so that whole lines of the cache are written.  Planes are multiplied in
// pairs, and the last one alone if their number is odd.
void WinogradConvolution::keep_weights(const Convolution &it, int64_t plane, int64_t in)
{
    std::array<Lanes, 9> kernels = {};
    const int64_t outs = std::min(lanes_, it.out_channels - plane * lanes_);
    for (int64_t lane = 0; lane < outs; lane++) {
        const float *const kernel =
            it.weights.data() + ((plane * lanes_ + lane) * in_channels_ + in) * 9;
        for (size_t tap = 0; tap < kernels.size(); tap++)
            kernels[tap][static_cast<size_t>(lane)] = static_cast<double>(kernel[tap]);
    }
    const auto transformed = transformed_kernels(kernels);
    const bool in_pairs = precision_ == Precision::bf16;
    const int64_t together = in_pairs ? 2 : 1, in_groups = divide_up(in_channels_, together);
    const int64_t pair = plane / 2 * 2, planes = std::min<int64_t>(2, out_planes_ - pair);
    for (int64_t place = 0; place < places; place++) {
        const Lanes &lanes = transformed[static_cast<size_t>(place)];
        const int64_t vector =
            (place * out_planes_ + pair) * in_groups + in / together * planes + plane - pair;
        const auto first = static_cast<size_t>(vector * lanes_ * together + in % together);
        for (size_t lane = 0; lane < static_cast<size_t>(lanes_); lane++)
            if (in_pairs)
                assign(bf16_weights_[first + lane * 2], static_cast<float>(lanes[lane]));
            else
                weights_[first + lane] = static_cast<float>(lanes[lane]);
    }
}

WinogradConvolution::Steps WinogradConvolution::steps_of(int64_t planes) const
{
    return {planes * lanes_, tiles_at_once * planes * lanes_};
}

size_t WinogradConvolution::sample_bytes() const
{
    return aligned(static_cast<size_t>(places * steps_of(in_planes_).place) * bytes_of(precision_));
}

size_t WinogradConvolution::product_bytes() const
{
    return static_cast<size_t>(places * steps_of(out_planes_).place) * sizeof(float);
}

size_t WinogradConvolution::weight_bytes() const
{
    return weights_.size() * sizeof(float) + bf16_weights_.size() * sizeof(Bf16);
}

template <int lanes, class Sample>
FUSED_INLINE void WinogradConvolution::gather_tiles(const WinogradRows<Sample> &rows, int64_t first,
                                                    int64_t count, Sample *samples,
                                                    float *powers) const
{
    typename Vector<lanes>::Type added_up;
    load(powers, added_up);
    const Steps steps = steps_of(in_planes_);
    alignas(64) Sample edge[winograd_in][winograd_in * lanes];
    alignas(64) static constexpr Sample zeros[winograd_in * lanes] = {};
    for (int64_t tile = 0; tile < count; tile++) {
        const int64_t x = (first + tile) * winograd_out - padding_;
        const bool is_inside = x >= 0 && x + winograd_in <= rows.in_width;
        for (int64_t plane = 0; plane < in_planes_; plane++) {
            const Sample *lines[winograd_in];
            const int64_t start = plane * rows.in_width;
            for (size_t y = 0; y < winograd_in; y++) {
                lines[y] = rows.in[y] ? rows.in[y] + (start + x) * lanes : zeros;
                if (is_inside || !rows.in[y])
                    continue;
                for (int64_t column = 0; column < winograd_in; column++) {
                    const bool is_there = x + column >= 0 && x + column < rows.in_width;
                    const Sample *const from =
                        is_there ? rows.in[y] + (start + x + column) * lanes : zeros;
                    std::copy_n(from, lanes, edge[y] + column * lanes);
                }
                lines[y] = edge[y];
            }
            transform_and_keep<lanes>(lines, samples + tile * steps.tile + plane * lanes,
                                      steps.place, added_up);
        }
    }
    store(added_up, powers);
}

template <int lanes>
FUSED_INLINE void WinogradConvolution::multiply_tiles(const float *samples, int64_t count,
                                                      float *products) const
{
    constexpr int tiles = pixels_at_once<lanes>;
    const Steps in = steps_of(in_planes_), out = steps_of(out_planes_);
    for (int64_t place = 0; place < places; place++)
        for (int64_t plane = 0; plane < out_planes_; plane += 2) {
            const float *const weights =
                weights_.data() + (place * out_planes_ + plane) * in_channels_ * lanes;
            for (int64_t tile = 0; tile < count; tile += tiles) {
                const float *const from = samples + place * in.place + tile * in.tile;
                float *const to = products + place * out.place + tile * out.tile + plane * lanes;
                if (plane + 1 < out_planes_)
                    multiply<lanes, 2>(from, in.tile, weights, in_channels_, to, out.tile);
                else
                    multiply<lanes, 1>(from, in.tile, weights, in_channels_, to, out.tile);
            }
        }
}

template <int lanes>
FUSED_INLINE void WinogradConvolution::multiply_tiles(const Bf16 *samples, int64_t count,
                                                      float *products) const
{
    const Steps in = steps_of(in_planes_), out = steps_of(out_planes_);
    const int64_t pairs = divide_up(in_channels_, 2);
    for (int64_t place = 0; place < places; place++)
        for (int64_t plane = 0; plane < out_planes_; plane += 2)
            for (int64_t tile = 0; tile < count; tile += bf16_pixels_at_once)
                sum_products(
                    {.samples = samples + place * in.place + tile * in.tile,
                     .pixel_step = in.tile,
                     .weights =
                         bf16_weights_.data() + (place * out_planes_ + plane) * pairs * 2 * lanes,
                     .pairs = pairs,
                     .sums = products + place * out.place + tile * out.tile + plane * lanes,
                     .sum_step = out.tile},
                    std::min<int64_t>(2, out_planes_ - plane));
}

template <int lanes, class Sample>
FUSED_INLINE void WinogradConvolution::spread_tiles(const float *products, int64_t first,
                                                    int64_t count,
                                                    const WinogradRows<Sample> &rows) const
{
    using V = typename Vector<lanes>::Type;
    const Steps steps = steps_of(out_planes_);
    for (int64_t tile = 0; tile < count; tile++) {
        const int64_t x = (first + tile) * winograd_out;
        const int64_t columns = std::min(winograd_out, rows.out_width - x);
        for (int64_t plane = 0; plane < out_planes_; plane++) {
            const float *const from = products + tile * steps.tile + plane * lanes;
            V made[winograd_out][winograd_in];
            for (int column = 0; column < 6; column++) {
                V each[6], four[4];
                for (int y = 0; y < 6; y++)
                    load(from + (y * 6 + column) * steps.place, each[y]);
                transform_out(each, four);
                for (int y = 0; y < 4; y++)
                    made[y][column] = four[y];
            }
            for (size_t y = 0; y < winograd_out; y++) {
                if (!rows.out[y])
                    continue;
                V four[4];
                transform_out(made[y], four);
                store_pixels(end_, four, columns, plane,
                             rows.out[y] + (plane * rows.out_width + x) * lanes);
            }
        }
    }
}

// Each step is compiled by itself: among the others the compiler found no registers for all sums of
// the products, which took a quarter longer then.
template <int lanes, class Sample>
bool WinogradConvolution::make_rows_of(const WinogradRows<Sample> &rows, std::byte *scratch) const
{
    const auto *const self = this;
    const WinogradRows<Sample> *const which = &rows;
    auto *const samples = reinterpret_cast<Sample *>(scratch);
    auto *const products = reinterpret_cast<float *>(scratch + sample_bytes());
    alignas(64) float powers[lanes] = {};
    float *const added_up = powers;
    const int64_t tiles = divide_up(rows.out_width, winograd_out);
    for (int64_t first = 0; first < tiles; first += tiles_at_once) {
        const int64_t count = std::min(tiles_at_once, tiles - first);
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template gather_tiles<lanes>(*which, first, count, samples, added_up);
        });
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template multiply_tiles<lanes>(samples, count, products);
        });
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template spread_tiles<lanes>(products, first, count, *which);
        });
    }
    return std::ranges::all_of(powers, [](float it) { return it < most_of_powers; });
}

template <class Sample>
bool WinogradConvolution::make_rows(const WinogradRows<Sample> &rows, void *scratch) const
{
    auto *const memory = static_cast<std::byte *>(scratch);
    if constexpr (std::is_same_v<Sample, float>)
        if (lanes_ == 8)
            return make_rows_of<8>(rows, memory);
    return make_rows_of<16>(rows, memory);
}

template bool WinogradConvolution::make_rows(const WinogradRows<float> &, void *) const;
template bool WinogradConvolution::make_rows(const WinogradRows<Bf16> &, void *) const;

} // namespace engine_torch::fused
