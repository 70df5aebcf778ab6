// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "trial.h"

#include "engines/torch/failure.h"
#include "engines/torch/program/returned_tensors.h"
#include "measure.h"

#include <algorithm>
#include <array>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/TensorOperators.h>
#include <cmath>

#include <optional>

namespace engine_torch
{
namespace
{

// Tolerances are shares of the largest value in the plain result.  Reordered sums stay far below
// them; wrong results are far above.
constexpr double float_tolerance = 0.001, low_precision_tolerance = 0.03;
// A precision that the user chose may differ by this much in every sample, or else by this much in
// the mean square (30 dB).
constexpr double chosen_tolerance = 0.05, chosen_mean_tolerance = 0.0316;
// What int8 may differ by: 30 dB to white.  Calibration has a higher aim; this catches frames that
// are unlike its pictures.
constexpr double int8_mean_tolerance = 0.0316;
constexpr double smallest_scale = 1e-3;
// Samples from 0 to 1 may always differ by this much: less than one step of 8 bits.
constexpr double range_tolerance = 0.003;
// With larger values the mean square says nothing about the picture.
constexpr double most_scale = 1000;
constexpr double most_decibel = 99.9;

// The small sizes have two images, because operators were seen to go wrong only from the second
// image of a batch on (LibTorch 1.13).  The sides are even and odd.  The larger sizes are for
// models that refuse smaller pictures.
constexpr std::array<std::array<int32_t, 3>, 4> trial_sizes = {{
    {2, 19, 29},
    {2, 32, 48},
    {1, 64, 64},
    {1, 256, 256},
}};
constexpr int enough_sizes = 2;
// A further size that takes more of the budget is left out: each variant runs it as well.
constexpr double most_of_budget = 0.1;
constexpr int64_t small_samples = 1 << 18;
constexpr double runs_of_trial = 5; // how many runs of the model a trial takes

int64_t samples_of(const Shape &shape)
{
    return int64_t{shape.batch} * shape.channels * shape.height * shape.width;
}

// Returns a tensor on the CPU, because some devices have no doubles.
at::Tensor comparable(const at::Tensor &tensor)
{
    if (tensor.layout() != at::kStrided)
        return tensor.cpu().to_dense();
    if (tensor.is_quantized())
        return tensor.cpu().dequantize();
    return tensor.is_complex() ? at::view_as_real(tensor.cpu()) : tensor.cpu();
}

void add_comparable(const at::Tensor &tensor, std::vector<at::Tensor> &tensors)
{
    if (tensor.defined())
        tensors.push_back(comparable(tensor));
}

void collect_tensors(const c10::IValue &value, std::vector<at::Tensor> &tensors)
{
    if (value.isTensor())
        add_comparable(value.toTensor(), tensors);
    else if (value.isTuple())
        for (const c10::IValue &element : value.toTupleRef().elements())
            collect_tensors(element, tensors);
    else if (value.isList())
        for (const c10::IValue &element : value.toListRef())
            collect_tensors(element, tensors);
    else if (value.isGenericDict())
        for (const auto &entry : value.toGenericDict())
            collect_tensors(entry.value(), tensors);
}

std::vector<at::Tensor> tensors_of(const c10::IValue &value)
{
    std::vector<at::Tensor> tensors;
    collect_tensors(value, tensors);
    return tensors;
}

// Few enough that all temporary tensors fit into the processor's caches.
constexpr int64_t samples_at_once = int64_t{1} << 17;

at::Tensor in_numbers(const at::Tensor &samples)
{
    return samples.scalar_type() == at::kFloat ? samples : samples.to(at::kDouble);
}

// Calls look(a, b) with parts of the two tensors as floats or doubles, as long as it returns true.
template <class Look> bool look_through(const at::Tensor &a, const at::Tensor &b, Look &&look)
{
    const at::Tensor flat_a = a.reshape({-1}), flat_b = b.reshape({-1});
    for (int64_t at = 0; at < flat_a.numel(); at += samples_at_once) {
        const int64_t count = std::min(samples_at_once, flat_a.numel() - at);
        if (!look(in_numbers(flat_a.narrow(0, at, count)), in_numbers(flat_b.narrow(0, at, count))))
            return false;
    }
    return true;
}

at::Tensor finite(const at::Tensor &samples)
{
    return at::where(samples.isfinite(), samples, at::zeros({}, samples.options()));
}

double largest_of(const at::Tensor &samples)
{
    const auto [least, most] = samples.aminmax();
    return std::max(-least.item<double>(), most.item<double>());
}

// Whether all samples are finite.  A sum may be infinite all the same, and costs one pass.
bool surely_finite(const at::Tensor &samples)
{
    return std::isfinite(samples.sum().item<double>());
}

bool same_other_numbers(const at::Tensor &a, const at::Tensor &b)
{
    const at::Tensor both_nan = a.isnan().logical_and(b.isnan());
    const at::Tensor both_finite = a.isfinite().logical_and(b.isfinite());
    return both_nan.logical_or(both_finite).logical_or(a.eq(b)).all().item<bool>();
}

// How far two tensors of the same extents differ where both are finite.
struct Distance {
    double largest = 0;        // largest value of the plain samples
    double apart = 0;          // largest difference
    double apart_in_range = 0; // largest difference after clamping to 0 to 1
    double squares = 0, count = 0;
};

// Returns nullopt if other samples are finite in `plain` than in `other`.
std::optional<Distance> distance_of(const at::Tensor &plain, const at::Tensor &other)
{
    Distance distance;
    const auto look = [&](const at::Tensor &a, const at::Tensor &b) {
        const bool all_finite = surely_finite(a) && surely_finite(b);
        if (!all_finite && !same_other_numbers(a, b))
            return false;
        const at::Tensor a_finite = all_finite ? a : finite(a),
                         b_finite = all_finite ? b : finite(b);
        const at::Tensor apart = a_finite - b_finite;
        const double largest = largest_of(a_finite), most_apart = largest_of(apart);
        distance.largest = std::max(distance.largest, largest);
        distance.apart = std::max(distance.apart, most_apart);
        // Clamping brings samples no farther apart.
        if (most_apart > distance.apart_in_range)
            distance.apart_in_range = std::max(
                distance.apart_in_range, largest_of(a_finite.clamp(0, 1) - b_finite.clamp(0, 1)));
        distance.squares += apart.square().sum().item<double>();
        distance.count += static_cast<double>(apart.numel());
        return true;
    };
    return look_through(plain, other, look) ? std::optional(distance) : std::nullopt;
}

// Whether the difference is small compared with the range of such results; see Variant::peak.
bool is_close_in_int8(const Distance &distance, double peak)
{
    const double scale = peak > 0 ? peak : std::max(distance.largest, smallest_scale);
    return distance.squares / distance.count <= std::pow(int8_mean_tolerance * scale, 2);
}

bool is_close(const at::Tensor &plain, const at::Tensor &other, const Variant &variant,
              double tolerance)
{
    const Precision precision = variant.precision;
    const bool same_type = plain.scalar_type() == other.scalar_type() ||
                           (precision != Precision::fp32 && other.is_floating_point());
    if (plain.sizes() != other.sizes() || !same_type)
        return false;
    const auto distance = distance_of(plain, other);
    if (!distance)
        return false;
    // 8-bit samples: a value between two of them may be rounded either way.
    if (plain.scalar_type() == at::kByte && distance->apart <= 1)
        return true;
    const double scale = std::max(distance->largest, smallest_scale);
    if (precision == Precision::int8)
        return is_close_in_int8(*distance, variant.peak);
    // One sample far out of range must not hide differences within the range.
    const double in_range = tolerance * std::min(scale, 1.0) + range_tolerance;
    if (distance->apart <= tolerance * scale && distance->apart_in_range <= in_range)
        return true;
    return precision != Precision::fp32 && scale <= most_scale &&
           distance->squares / distance->count <= std::pow(chosen_mean_tolerance * scale, 2);
}

// Whole numbers, such as classes and positions, must be equal: the next one means something else.
bool are_numbers_close(const at::Tensor &plain, const at::Tensor &other, const Variant &variant,
                       double tolerance)
{
    if (plain.is_floating_point() && other.is_floating_point())
        return is_close(plain, other, variant, tolerance);
    return plain.scalar_type() == other.scalar_type() && plain.equal(other);
}

bool all_are_close(const c10::IValue &plain, const c10::IValue &other, const Variant &variant,
                   double tolerance)
{
    const auto expected = tensors_in(plain), tensors = tensors_in(other);
    const auto agree = [&](const ReturnedTensor &a, const ReturnedTensor &b) {
        if (a.name != b.name || a.tensor.defined() != b.tensor.defined())
            return false;
        return !a.tensor.defined() ||
               are_numbers_close(comparable(a.tensor), comparable(b.tensor), variant, tolerance);
    };
    return std::equal(expected.begin(), expected.end(), tensors.begin(), tensors.end(), agree);
}

// Returns the same noise in every run and on every machine.
at::Tensor noise(const Shape &shape)
{
    const at::Tensor place = at::arange(samples_of(shape), at::kDouble);
    return ((place * 12.9898).sin() * 43758.5453)
        .frac()
        .abs()
        .to(at::kFloat)
        .view({shape.batch, shape.channels, shape.height, shape.width});
}

} // namespace

at::Tensor in_range(const at::Tensor &fractions, const Shape &shape)
{
    return shape.low == 0 && shape.high == 1 ? fractions : fractions * shape.range() + shape.low;
}

at::Tensor test_picture(const Shape &shape)
{
    const at::Tensor y = at::arange(shape.height, at::kFloat).view({1, 1, -1, 1});
    const at::Tensor x = at::arange(shape.width, at::kFloat).view({1, 1, 1, -1});
    const at::Tensor plane = at::arange(int64_t{shape.batch} * shape.channels, at::kFloat)
                                 .view({shape.batch, shape.channels, 1, 1});
    const at::Tensor smooth = (x.mul(0.031) + plane).sin() * (y.mul(0.023) + plane).cos();
    const at::Tensor rough = (x.mul(0.6180339887) + y.mul(0.7548776662) + plane).frac() - 0.5;
    const at::Tensor where_rough = (x.mul(0.05) + y.mul(0.04)).sin().clamp_min(0);
    const at::Tensor picture = smooth * 0.3 + rough * where_rough * 0.3 + 0.5;
    return in_range(picture, shape).contiguous();
}

bool is_close(const c10::IValue &plain, const c10::IValue &other, const Variant &variant,
              const Source &source)
{
    const double tolerance =
        variant.precision == Precision::fp32 ? source.own_tolerance : chosen_tolerance;
    if (source.asked.results == Results::tensors)
        return all_are_close(plain, other, variant, tolerance);
    const std::vector<at::Tensor> expected = tensors_of(plain);
    const std::vector<at::Tensor> tensors = tensors_of(other);
    return std::equal(expected.begin(), expected.end(), tensors.begin(), tensors.end(),
                      [&](const at::Tensor &a, const at::Tensor &b) {
                          return is_close(a, b, variant, tolerance);
                      });
}

double tolerance_of(const torch::jit::Module &plain)
{
    for (const at::Tensor &weights : plain.parameters())
        if (weights.scalar_type() != at::kFloat)
            return low_precision_tolerance;
    return float_tolerance;
}

double psnr_decibel(const c10::IValue &plain, const c10::IValue &other, double peak)
{
    const std::vector<at::Tensor> expected = tensors_of(plain);
    const std::vector<at::Tensor> tensors = tensors_of(other);
    double worst = most_decibel;
    for (size_t i = 0; i < std::min(expected.size(), tensors.size()); i++) {
        const auto distance = distance_of(expected[i], tensors[i]);
        const double white = peak > 0 ? peak : std::max(range_of(expected[i]), smallest_scale);
        const double square =
            distance ? distance->squares / distance->count / (white * white) : INFINITY;
        if (square > 0)
            worst = std::min(worst, -10 * std::log10(square));
    }
    return worst;
}

double range_of(const at::Tensor &tensor)
{
    const double range =
        tensor.numel() > 0 ? tensor.max().item<double>() - tensor.min().item<double>() : 0;
    return std::isfinite(range) ? range : 0;
}

Trial::Trial(const Source &source, const Shape &shape, double budget_seconds) : source_(source)
{
    int taken = 0;
    for (const auto &[batch, height, width] : trial_sizes)
        if (taken < enough_sizes && !takes_long(shape.sized(batch, height, width), budget_seconds))
            taken += add_small(shape.sized(batch, height, width));
    if (pictures_.empty())
        add_whole(shape, budget_seconds);
}

// Without a budget nothing takes long, and before the first picture nothing is known.
bool Trial::takes_long(const Shape &shape, double budget_seconds) const
{
    return budget_seconds > 0 &&
           plain_seconds_of_pixel() * pixels_of(shape) > most_of_budget * budget_seconds;
}

// Each image of a batch has different content.  At the first size that the model takes, flat
// pictures, as films begin and end with, and noise follow.
bool Trial::add_small(const Shape &shape)
{
    const bool is_first = pictures_.empty(), is_taken = add(test_picture(shape));
    if (!is_taken || !is_first)
        return is_taken;
    const Shape one = shape.sized(1, shape.height, shape.width);
    const at::Tensor rough = noise(one);
    for (const at::Tensor &fractions : {at::zeros_like(rough), at::ones_like(rough), rough})
        add(in_range(fractions, one));
    return true;
}

void Trial::add_whole(const Shape &shape, double budget_seconds)
{
    const bool is_small = samples_of(shape) <= small_samples;
    if (!is_small && budget_seconds <= 0)
        return;
    add(test_picture(shape));
    if (!is_small && plain_seconds_ * runs_of_trial > budget_seconds)
        pictures_.clear();
}

void Trial::enlarge(const Shape &shape)
{
    add(test_picture(shape));
}

// Adds nothing if the plain module does not take the images.
bool Trial::add(const at::Tensor &images)
{
    try {
        const auto start = Clock::now();
        c10::IValue result = run_for_trial(plain_variant(source_), source_, images);
        plain_seconds_ += seconds_since(start);
        plain_pixels_ += static_cast<double>(images.size(0) * images.size(2) * images.size(3));
        pictures_.push_back({images, std::move(result)});
        return true;
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
        return false;
    }
}

std::string Trial::fault_of(const Variant &variant) const
{
    try {
        for (const Picture &picture : pictures_)
            if (!is_close(picture.result, run_for_trial(variant, source_, picture.images), variant,
                          source_))
                return source_.draws_random_numbers ? "it draws other random numbers"
                                                    : "its results are wrong";
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
        return words_of(error);
    }
    return "";
}

} // namespace engine_torch
