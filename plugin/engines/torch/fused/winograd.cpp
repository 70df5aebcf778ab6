// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "winograd.h"

#include "simd_target.h"

#include <algorithm>
#include <bit>
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
// places are about equally large, which keeps rounding small.
constexpr double a = 0.70710678118654752440, b = 1.41421356237309504880;
constexpr double a2 = 0.5, b2 = 2;

// A tap or weight of the kernels of as many results as a vector has lanes.
using Lanes = std::array<double, most_lanes>;

// A kernel's three taps evaluated at each point, and divided by the product of the differences of
// the points.
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

// Sums of squares of a tile's samples: of its four quarters without the border, and of the border.
// The 3x3 window of each result holds one of the quarters.
constexpr int quarters = 4, parts = quarters + 1;

// How many times the squares of a quarter those of its tile may be.  They are 9 times as large
// where all samples are equal.  Footage was seen to have up to 120.
//
// This bounds what is lost, in any net.  Let share[c] be the most that a unit of channel c counts
// in the network's results: over the layer's results k, the sum of gain[k] times the norm
// |w[k][c]|, the sum of a kernel's absolute weights.  Rounding in transforms, products and sums
// moves result k of a tile by no more than
//     e * sum over c of |w[k][c]| * most[c],   most[c]: the tile's largest sample of channel c,
// with e = 190 * (channels + 30) * 2^-24: 190 is the square of 13.7, the largest row of the
// absolute matrices of one direction, multiplied; as a rule it is 10.  So it moves the network's
// results by no more than
//     e * sum over c of share[c] * most[c]  <=  e * sqrt(channels) * S(tile),
//     S: the root of the sum of squares of share[c] * sample.
// Transforms are used if S(tile)^2 <= most_apart * S(quarter)^2 for each quarter, so that
//     S(tile) <= sqrt(most_apart) * S(window)
// for the window of each result: what a result loses is bounded by what it depends on, and nothing
// else in the tile can spoil it.  In fp32 that is 30 times what it loses in a tile whose samples
// are alike, or 5 bits of 24; in bf16 11 times, because there are no bits to lose.
//
// That is relative to what the window may count.  A net whose layers cancel most of that (features
// of 1 and a thousandth, from which the next layer subtracts 1) loses as many bits of the
// remainder.
constexpr float most_apart(Precision precision)
{
    return precision == Precision::bf16 ? 1024.0F : 8192.0F;
}

constexpr int part_at(int y, int x)
{
    const bool is_border = y == 0 || y == 5 || x == 0 || x == 5;
    return is_border ? quarters : (y > 2 ? 2 : 0) + (x > 2 ? 1 : 0);
}

// Transforms one plane of a tile of the input, whose lines are contiguous.  Adds samples' squares.
template <int lanes, class Sample>
FUSED_INLINE void transform_tile(const Sample *const *lines, float *to, int64_t place_step,
                                 typename Vector<lanes>::Type (&squares)[parts])
{
    using V = typename Vector<lanes>::Type;
    V rows[6][6];
#pragma GCC unroll 6
    for (int y = 0; y < 6; y++) {
        V line[6];
#pragma GCC unroll 6
        for (int x = 0; x < 6; x++) {
            load(lines[y] + x * lanes, line[x]);
            squares[part_at(y, x)] += line[x] * line[x];
        }
        transform_in(line, rows[y]);
    }
    for (int x = 0; x < 6; x++) {
        V column[6], made[6];
        for (int y = 0; y < 6; y++)
            column[y] = rows[y][x];
        transform_in(column, made);
        for (int y = 0; y < 6; y++)
            store(made[y], to + (y * 6 + x) * place_step);
    }
}

// The same for either kind of samples.
template <int lanes>
FUSED_INLINE void transform_and_keep(const float *const *lines, float *to, int64_t place_step,
                                     typename Vector<lanes>::Type (&squares)[parts])
{
    transform_tile<lanes>(lines, to, place_step, squares);
}

template <int lanes>
FUSED_INLINE void transform_and_keep(const Bf16 *const *lines, Bf16 *to, int64_t place_step,
                                     typename Vector<lanes>::Type (&squares)[parts])
{
    alignas(64) float wide[places * lanes];
    transform_tile<lanes>(lines, wide, lanes, squares);
    round_vectors(wide, places, to, place_step);
}

// Finishes and stores the sums of some pixels of a row.
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

template <class V> FUSED_INLINE float sum_of_lanes(const V &vector)
{
    constexpr int lanes = sizeof(V) / sizeof(float);
    alignas(64) float each[lanes];
    store(vector, each);
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; lane++)
            each[lane] += each[lane + width];
    return each[0];
}

// Whether a quarter that some result needs has too small a share of the tile's squares, or there
// are samples that are NaN, or too large or too small to be squared.
template <class V>
FUSED_INLINE bool harms_results(const V (&weighed)[parts], float most, int64_t columns,
                                int64_t lines)
{
    constexpr float smallest = 1e-30F;
    float all = sum_of_lanes(weighed[quarters]), least = INFINITY;
    for (int part = 0; part < quarters; part++) {
        const float one = sum_of_lanes(weighed[part]);
        const bool is_needed = (part % 2 == 0 || columns > 2) && (part < 2 || lines > 2);
        all += one;
        least = is_needed && one < least ? one : least;
    }
    return !(all <= most * least && all < INFINITY && all > smallest);
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
                                         const std::vector<TailStep> &tail, Precision precision,
                                         const Gains &gains)
    : precision_(precision), lanes_(block_lanes()), in_channels_(in_channels),
      in_planes_(divide_up(in_channels, lanes_)), out_planes_(divide_up(it.out_channels, lanes_)),
      padding_(it.padding.x), end_(it, tail), convolution_(it), tail_(tail)
{
    keep_shares(it, gains);
    const int64_t count = places * out_planes_ * lanes_;
    if (precision == Precision::bf16)
        bf16_weights_.resize(static_cast<size_t>(count * divide_up(in_channels, 2) * 2));
    else
        weights_.resize(static_cast<size_t>(count * in_channels));
    for (int64_t plane = 0; plane < out_planes_; plane++)
        for (int64_t in = 0; in < in_channels; in++)
            keep_weights(it, plane, in);
}

// Uses ones if all shares are zero or one of them is not finite.
void WinogradConvolution::keep_shares(const Convolution &it, const Gains &gains)
{
    Gains shares(static_cast<size_t>(in_channels_));
    const float *weight = it.weights.data();
    for (int64_t out = 0; out < it.out_channels; out++)
        for (long double &share : shares)
            for (int tap = 0; tap < 9; tap++)
                share +=
                    gains[static_cast<size_t>(out)] * static_cast<long double>(std::abs(*weight++));
    const long double most = *std::ranges::max_element(shares);
    const bool is_known = most > 0 && std::isfinite(most);
    shares_.resize(static_cast<size_t>(in_planes_ * lanes_));
    for (size_t in = 0; in < shares.size(); in++)
        shares_[in] = is_known ? static_cast<float>(std::pow(shares[in] / most, 2)) : 1;
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
                                                    uint32_t &harmed) const
{
    using V = typename Vector<lanes>::Type;
    const int64_t made = std::count_if(rows.out.begin(), rows.out.end(),
                                       [](const Sample *row) { return row != nullptr; });
    const Steps steps = steps_of(in_planes_);
    alignas(64) Sample edge[winograd_in][winograd_in * lanes];
    alignas(64) static constexpr Sample zeros[winograd_in * lanes] = {};
    for (int64_t tile = 0; tile < count; tile++) {
        const int64_t x = (first + tile) * winograd_out - padding_;
        const bool is_inside = x >= 0 && x + winograd_in <= rows.in_width;
        V weighed[parts] = {};
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
            V squares[parts] = {}, share;
            transform_and_keep<lanes>(lines, samples + tile * steps.tile + plane * lanes,
                                      steps.place, squares);
            load(shares_.data() + plane * lanes, share);
            for (int part = 0; part < parts; part++)
                weighed[part] += share * squares[part];
        }
        const int64_t columns = rows.out_width - (first + tile) * winograd_out;
        if (harms_results(weighed, most_apart(precision_), columns, made))
            harmed |= uint32_t{1} << tile;
    }
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

// Copies the part of the input that a tile reads, as floats.
template <class Sample>
void WinogradConvolution::copy_tile(const WinogradRows<Sample> &rows, int64_t x, float *to) const
{
    for (size_t y = 0; y < winograd_in; y++)
        for (int64_t plane = 0; plane < in_planes_; plane++)
            for (int64_t column = x; column < x + winograd_in; column++, to += lanes_) {
                const bool is_there = rows.in[y] && column >= 0 && column < rows.in_width;
                for (int64_t lane = 0; lane < lanes_; lane++)
                    to[lane] =
                        is_there
                            ? to_float(rows.in[y][(plane * rows.in_width + column) * lanes_ + lane])
                            : 0;
            }
}

// Uses the memory of transformed samples and products, which is large enough.  Returns false, and
// makes nothing, if all samples are zero: transforms are exact then.
template <class Sample>
bool WinogradConvolution::make_directly(const WinogradRows<Sample> &rows, int64_t tile,
                                        std::byte *scratch) const
{
    const int64_t x = tile * winograd_out, row = in_planes_ * winograd_in * lanes_;
    const int64_t columns = std::min(winograd_out, rows.out_width - x);
    auto *const samples = reinterpret_cast<float *>(scratch);
    auto *const made = reinterpret_cast<float *>(scratch + sample_bytes());
    copy_tile(rows, x - padding_, samples);
    if (std::all_of(samples, samples + winograd_in * row, [](float it) { return it == 0; }))
        return false;
    for (int64_t y = 0; y < winograd_out; y++) {
        Sample *const to = rows.out[static_cast<size_t>(y)];
        if (!to)
            continue;
        const std::array<const float *, 3> lines = {samples + y * row, samples + (y + 1) * row,
                                                    samples + (y + 2) * row};
        direct().make_row(lines.data(), winograd_in, made, winograd_out,
                          samples + winograd_in * row);
        for (int64_t plane = 0; plane < out_planes_; plane++)
            for (int64_t i = 0; i < columns * lanes_; i++)
                assign(to[(plane * rows.out_width + x) * lanes_ + i],
                       made[plane * winograd_out * lanes_ + i]);
    }
    return true;
}

const DirectConvolution &WinogradConvolution::direct() const
{
    std::call_once(direct_is_made_, [this] {
        Convolution unpadded = convolution_;
        unpadded.padding = {0, 0};
        direct_ = std::make_unique<const DirectConvolution>(unpadded, in_channels_, tail_);
    });
    return *direct_;
}

// Each step is compiled by itself: together, the compiler found no registers for all sums of the
// products, which then took a quarter longer.
template <int lanes, class Sample>
int64_t WinogradConvolution::make_rows_of(const WinogradRows<Sample> &rows,
                                          std::byte *scratch) const
{
    const auto *const self = this;
    const WinogradRows<Sample> *const which = &rows;
    auto *const samples = reinterpret_cast<Sample *>(scratch);
    auto *const products = reinterpret_cast<float *>(scratch + sample_bytes());
    uint32_t harmed = 0, *const which_harmed = &harmed;
    int64_t in_all = 0;
    const int64_t tiles = divide_up(rows.out_width, winograd_out);
    for (int64_t first = 0; first < tiles; first += tiles_at_once) {
        const int64_t count = std::min(tiles_at_once, tiles - first);
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template gather_tiles<lanes>(*which, first, count, samples, *which_harmed);
        });
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template multiply_tiles<lanes>(samples, count, products);
        });
        run_vectorized([=]() __attribute__((always_inline)) {
            self->template spread_tiles<lanes>(products, first, count, *which);
        });
        for (; harmed; harmed &= harmed - 1)
            in_all += make_directly(rows, first + std::countr_zero(harmed), scratch);
    }
    return in_all;
}

template <class Sample>
int64_t WinogradConvolution::make_rows(const WinogradRows<Sample> &rows, void *scratch) const
{
    auto *const memory = static_cast<std::byte *>(scratch);
    if constexpr (std::is_same_v<Sample, float>)
        if (lanes_ == 8)
            return make_rows_of<8>(rows, memory);
    return make_rows_of<16>(rows, memory);
}

template int64_t WinogradConvolution::make_rows(const WinogradRows<float> &, void *) const;
template int64_t WinogradConvolution::make_rows(const WinogradRows<Bf16> &, void *) const;

} // namespace engine_torch::fused
