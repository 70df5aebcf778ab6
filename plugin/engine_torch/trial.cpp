// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "trial.h"

#include "failure.h"

#include <algorithm>
#include <array>
#include <ATen/ATen.h>
#include <chrono>
#include <cmath>

namespace engine_torch
{
namespace
{

// Shares of the largest value in the plain result.  Reordered sums stay far
// below them; wrong results lie far above.
constexpr double float_tolerance = 0.001, low_precision_tolerance = 0.03;
// What a precision of the user's choice may differ by: in every sample, or
// else in the mean square (30 dB).
constexpr double chosen_tolerance = 0.05, chosen_mean_tolerance = 0.0316;
constexpr double smallest_scale = 1e-3;
constexpr double most_decibel = 99.9;

// Two images of a batch, since operators were seen to go wrong only from the
// second on (LibTorch 1.13), and sizes of both parities; the larger ones are
// for models that take no smaller picture.
constexpr std::array<std::array<std::int32_t, 3>, 4> trial_sizes = {{
    {2, 32, 48},
    {2, 19, 29},
    {1, 64, 64},
    {1, 256, 256},
}};
constexpr std::size_t enough_pictures = 2;
constexpr std::int64_t small_samples = 1 << 18;
constexpr double runs_of_trial = 5; // each form's and the plain one's

std::int64_t samples_of(const DnnTorchShape &shape)
{
    return std::int64_t{shape.batch} * shape.channels * shape.height * shape.width;
}

void collect_tensors(const c10::IValue &value, std::vector<at::Tensor> &tensors)
{
    if (value.isTensor())
        tensors.push_back(value.toTensor().cpu()); // some devices lack doubles
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

at::Tensor difference(const at::Tensor &plain, const at::Tensor &other)
{
    return other.to(at::kDouble) - plain.to(at::kDouble);
}

bool is_close(const at::Tensor &plain, const at::Tensor &other, Precision precision,
              double tolerance)
{
    const bool same_type = plain.scalar_type() == other.scalar_type() ||
                           (precision != Precision::fp32 && other.is_floating_point());
    if (plain.sizes() != other.sizes() || !same_type)
        return false;
    if (plain.numel() == 0)
        return true;
    const double largest = plain.to(at::kDouble).abs().max().item<double>();
    if (!std::isfinite(largest))
        return true;
    const double scale = std::max(largest, smallest_scale);
    const at::Tensor apart = difference(plain, other);
    if (apart.abs().max().item<double>() <= tolerance * scale)
        return true;
    return precision != Precision::fp32 &&
           apart.square().mean().item<double>() <= std::pow(chosen_mean_tolerance * scale, 2);
}

double tolerance_of(const torch::jit::Module &plain)
{
    for (const at::Tensor &weights : plain.parameters())
        if (weights.scalar_type() != at::kFloat)
            return low_precision_tolerance;
    return float_tolerance;
}

Form plain_form(const Source &source)
{
    return {FormKind::saved, Precision::fp32, source.plain};
}

} // namespace

at::Tensor test_picture(const DnnTorchShape &shape)
{
    const at::Tensor y = at::arange(shape.height, at::kFloat).view({1, 1, -1, 1});
    const at::Tensor x = at::arange(shape.width, at::kFloat).view({1, 1, 1, -1});
    const at::Tensor plane = at::arange(std::int64_t{shape.batch} * shape.channels, at::kFloat)
                                 .view({shape.batch, shape.channels, 1, 1});
    const at::Tensor smooth = (x.mul(0.031) + plane).sin() * (y.mul(0.023) + plane).cos();
    const at::Tensor rough = (x.mul(0.6180339887) + y.mul(0.7548776662) + plane).frac() - 0.5;
    const at::Tensor where_rough = (x.mul(0.05) + y.mul(0.04)).sin().clamp_min(0);
    return (smooth * 0.3 + rough * where_rough * 0.3 + 0.5).contiguous();
}

bool is_close(const c10::IValue &plain, const c10::IValue &other, Precision precision,
              double own_tolerance)
{
    const double tolerance = precision == Precision::fp32 ? own_tolerance : chosen_tolerance;
    const std::vector<at::Tensor> expected = tensors_of(plain);
    const std::vector<at::Tensor> tensors = tensors_of(other);
    return std::equal(expected.begin(), expected.end(), tensors.begin(), tensors.end(),
                      [&](const at::Tensor &a, const at::Tensor &b) {
                          return is_close(a, b, precision, tolerance);
                      });
}

double psnr_decibel(const c10::IValue &plain, const c10::IValue &other)
{
    const std::vector<at::Tensor> expected = tensors_of(plain);
    const std::vector<at::Tensor> tensors = tensors_of(other);
    double squares = 0, count = 0;
    for (std::size_t i = 0; i < std::min(expected.size(), tensors.size()); ++i) {
        squares += difference(expected[i], tensors[i]).square().sum().item<double>();
        count += static_cast<double>(expected[i].numel());
    }
    return squares > 0 ? std::min(-10 * std::log10(squares / count), most_decibel) : most_decibel;
}

Trial::Trial(const Source &source, const DnnTorchShape &shape, double budget_seconds)
    : source_(source), tolerance_(tolerance_of(source.plain))
{
    for (const auto &[batch, height, width] : trial_sizes)
        if (pictures_.size() < enough_pictures)
            add({batch, shape.channels, height, width});
    if (pictures_.empty())
        add_whole(shape, budget_seconds);
}

void Trial::add_whole(const DnnTorchShape &shape, double budget_seconds)
{
    const bool is_small = samples_of(shape) <= small_samples;
    if (!is_small && budget_seconds <= 0)
        return;
    const auto start = std::chrono::steady_clock::now();
    add(shape);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!is_small && took.count() * runs_of_trial > budget_seconds)
        pictures_.clear();
}

// Nothing where the plain module does not take it.
void Trial::add(const DnnTorchShape &shape)
{
    try {
        const at::Tensor images = test_picture(shape);
        c10::IValue result = run_form(plain_form(source_), source_, images);
        pictures_.push_back({images, std::move(result)});
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
    }
}

std::string Trial::fault_of(const Form &form) const
{
    try {
        for (const Picture &picture : pictures_)
            if (!is_close(picture.result, run_form(form, source_, picture.images), form.precision,
                          tolerance_))
                return "its results are wrong";
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
        return words_of(error);
    }
    return "";
}

} // namespace engine_torch
