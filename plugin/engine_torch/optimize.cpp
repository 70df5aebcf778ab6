// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "optimize.h"

#include "quiet.h"
#include "run_scope.h"
#include "text.h"

#include <array>
#include <ATen/ATen.h>
#include <cmath>

namespace engine_torch
{
namespace
{

using torch::jit::Module;

// Shares of the largest value in the plain result.  Reordered sums stay far
// below them; wrong results lie far above.
constexpr double float_tolerance = 0.001, low_precision_tolerance = 0.03;

// Two images of a batch, since operators were seen to go wrong only from the
// second on (LibTorch 1.13), and sizes of both parities; the larger ones are
// for models that take no smaller picture.
constexpr std::array<std::array<std::int64_t, 3>, 4> trial_sizes = {{
    {2, 32, 48},
    {2, 19, 29},
    {1, 64, 64},
    {1, 256, 256},
}};
constexpr std::array<std::int64_t, 3> trial_channels = {3, 1, 4};

// The same pictures for everybody: LibTorch's random numbers belong to the program.
at::Tensor trial_picture(std::int64_t channels, const std::array<std::int64_t, 3> &size)
{
    const std::int64_t count = size[0] * channels * size[1] * size[2];
    return at::arange(count, at::kFloat)
        .mul_(0.6180339887)
        .frac_()
        .view({size[0], channels, size[1], size[2]});
}

void collect_tensors(const c10::IValue &value, std::vector<at::Tensor> &tensors)
{
    if (value.isTensor())
        tensors.push_back(value.toTensor());
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

bool is_close(const at::Tensor &plain, const at::Tensor &other, double tolerance)
{
    if (plain.sizes() != other.sizes() || plain.scalar_type() != other.scalar_type())
        return false;
    if (plain.numel() == 0)
        return true;
    const at::Tensor expected = plain.to(at::kDouble);
    const double largest = expected.abs().max().item<double>();
    const double difference = (expected - other.to(at::kDouble)).abs().max().item<double>();
    return difference <= tolerance * std::max(largest, 1e-3) || !std::isfinite(largest);
}

bool is_close(const c10::IValue &plain, const c10::IValue &other, double tolerance)
{
    const std::vector<at::Tensor> expected = tensors_of(plain);
    const std::vector<at::Tensor> tensors = tensors_of(other);
    return std::equal(expected.begin(), expected.end(), tensors.begin(), tensors.end(),
                      [tolerance](const at::Tensor &a, const at::Tensor &b) {
                          return is_close(a, b, tolerance);
                      });
}

double tolerance_of(const Module &plain)
{
    for (const at::Tensor &weights : plain.parameters())
        if (weights.scalar_type() != at::kFloat)
            return low_precision_tolerance;
    return float_tolerance;
}

// A picture that the plain module takes, and what it makes of it.
struct Trial {
    at::Tensor picture;
    c10::IValue result;
    double tolerance;
};

std::optional<Trial> try_plain(const Module &plain, const std::string &input_name,
                               const at::Tensor &picture)
{
    try {
        return Trial{picture, call_forward(plain, input_name, picture.clone()),
                     tolerance_of(plain)};
    } catch (const std::exception &) {
        return std::nullopt;
    }
}

// For the first count of channels that the plain module takes.
std::vector<Trial> make_trials(const Module &plain, const std::string &input_name)
{
    std::vector<Trial> trials;
    for (const std::int64_t channels : trial_channels) {
        for (const auto &size : trial_sizes) {
            auto trial = try_plain(plain, input_name, trial_picture(channels, size));
            if (trial)
                trials.push_back(std::move(*trial));
            if (trials.size() == 2)
                return trials;
        }
        if (!trials.empty())
            return trials;
    }
    return trials;
}

bool passes(const Module &module, const std::string &input_name, const std::vector<Trial> &trials)
{
    try {
        for (const Trial &trial : trials)
            if (!is_close(trial.result, call_forward(module, input_name, trial.picture.clone()),
                          trial.tolerance))
                return false;
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

// Changes the graph of a copy: where it throws half-way, the frozen module is whole.
std::optional<Module> for_inference(const Module &frozen)
{
    try {
        Module copy = frozen.clone(true);
        return torch::jit::optimize_for_inference(copy);
    } catch (const std::exception &) {
        return std::nullopt;
    }
}

} // namespace

c10::IValue call_forward(const Module &module, const std::string &input_name,
                         const at::Tensor &images)
{
    const RunScope scope;
    return module.get_method("forward")({}, {{input_name, images}});
}

std::optional<Module> freeze(const Module &plain, std::string &reason)
{
    try {
        return torch::jit::freeze(plain);
    } catch (const c10::Error &error) {
        reason = short_message(error.what_without_backtrace());
    } catch (const std::exception &error) {
        reason = short_message(error.what());
    }
    return std::nullopt;
}

std::optional<Module> optimize(const Module &plain, const Module &frozen,
                               const std::string &input_name, std::string &notice)
{
    // Warnings about a form that may be thrown away are not for the user.
    const Quiet quiet;
    const std::vector<Trial> trials = make_trials(plain, input_name);
    if (trials.empty()) {
        notice = "the model takes none of the trial pictures, so that it was optimised less";
        return frozen;
    }
    std::optional<Module> fastest = for_inference(frozen);
    if (fastest && passes(*fastest, input_name, trials))
        return fastest;
    if (passes(frozen, input_name, trials)) {
        notice =
            "LibTorch's optimize_for_inference gives this model wrong results and was left out";
        return frozen;
    }
    notice = "the optimised model gives other results, so that it runs as it was saved";
    return std::nullopt;
}

} // namespace engine_torch
