// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "calibration.h"

#include "engines/torch/failure.h"
#include "engines/torch/fusing/fuse.h"
#include "engines/torch/shape.h"
#include "trial.h"

#include <algorithm>
#include <array>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/where.h>
#include <ATen/TensorOperators.h>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{
namespace
{

// Leaves out windows that are flat or not finite.
struct ClipWindows {
    at::Tensor liveliest; // a few, the liveliest first; undefined if there are none
    at::Tensor others;    // some of the others; undefined if there are none
};

// Takes the liveliest window of this many pictures, and the windows with the largest and the
// smallest sample of all.
constexpr int64_t most_pictures = 4;
// As many samples as a frame of 960x544 has.
constexpr int64_t most_others = 32;
// As shares of the pictures' range: windows with a smaller range of samples are flat, and with a
// larger one broken.
constexpr double flat_range = 1.0 / 64, wild_range = 100;

// Returns [pictures, windows of each, channels, rows, columns]: a grid in the middle of each
// picture.
at::Tensor all_windows(const at::Tensor &samples, int64_t rows, int64_t columns)
{
    const int64_t down = samples.size(2) / rows, across = samples.size(3) / columns;
    return samples.narrow(2, (samples.size(2) - down * rows) / 2, down * rows)
        .narrow(3, (samples.size(3) - across * columns) / 2, across * columns)
        .reshape({samples.size(0), samples.size(1), down, rows, across, columns})
        .permute({0, 2, 4, 1, 3, 5})
        .reshape({samples.size(0), down * across, samples.size(1), rows, columns});
}

// The contrast of each window; below 0 if it is flat or broken.  A plain colour is flat.
at::Tensor liveliness_of(const at::Tensor &windows, const Shape &shape)
{
    const at::Tensor planes = windows.flatten(3);
    const at::Tensor range = (planes.amax(3) - planes.amin(3)).amax(2);
    const at::Tensor is_informative =
        range.ge(flat_range * shape.range()).logical_and(range.le(wild_range * shape.range()));
    return planes.std(3, false).amax(2).masked_fill(is_informative.logical_not(), -1);
}

// Stretches the range of `all` to that of black to white: a film may begin dark and go on with a
// bright scene.
at::Tensor stretched(const at::Tensor &windows, const at::Tensor &all, const Shape &shape)
{
    const double low = all.min().item<double>(), high = all.max().item<double>();
    return (windows - low) * (shape.range() / (high - low)) + shape.low;
}

// Returns indices into the windows of all pictures.
std::vector<int64_t> liveliest(const at::Tensor &windows, const at::Tensor &liveliness,
                               const Shape &shape)
{
    std::vector<int64_t> chosen;
    const auto choose = [&](int64_t place) {
        const bool is_informative = liveliness.view(-1)[place].item<double>() >= 0;
        if (is_informative && std::find(chosen.begin(), chosen.end(), place) == chosen.end())
            chosen.push_back(place);
    };
    const at::Tensor best = liveliness.argmax(1);
    const at::Tensor order = liveliness.amax(1).argsort(0, true);
    for (int64_t i = 0; i < std::min(most_pictures, order.size(0)); i++) {
        const auto picture = order[i].item<int64_t>();
        choose(picture * windows.size(1) + best[picture].item<int64_t>());
    }
    const at::Tensor ignored = liveliness.view(-1).lt(0), all = windows.flatten(0, 1).flatten(1);
    choose(all.amax(1).masked_fill(ignored, shape.low).argmax().item<int64_t>());
    choose(all.amin(1).masked_fill(ignored, shape.high).argmin().item<int64_t>());
    return chosen;
}

// Keeps at most most_others, evenly spaced.
std::vector<int64_t> thinned(const std::vector<int64_t> &places)
{
    const auto count = std::min(static_cast<int64_t>(places.size()), most_others);
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < count; i++)
        kept.push_back(
            places[static_cast<size_t>(i * static_cast<int64_t>(places.size()) / count)]);
    return kept;
}

// Cuts the most informative parts out of a clip's pictures.  Both results are
// [count, channels, rows, columns], or smaller if the pictures are.  `samples` are
// [count, channels, height, width] of float32 and are only read.
ClipWindows windows_of(const at::Tensor &samples, const Shape &shape, int64_t rows, int64_t columns)
{
    const at::Tensor windows =
        all_windows(samples, std::min(rows, samples.size(2)), std::min(columns, samples.size(3)));
    const at::Tensor liveliness = liveliness_of(windows, shape);
    const std::vector<int64_t> chosen = liveliest(windows, liveliness, shape);
    if (chosen.empty())
        return {};
    const at::Tensor all = windows.flatten(0, 1), informative = liveliness.flatten().ge(0);
    std::vector<int64_t> others;
    for (int64_t place = 0; place < all.size(0); place++)
        if (informative[place].item<bool>() &&
            std::find(chosen.begin(), chosen.end(), place) == chosen.end())
            others.push_back(place);
    const at::Tensor found = all.index_select(0, at::tensor(chosen));
    ClipWindows made = {.liveliest =
                            at::cat({found, stretched(found.narrow(0, 0, 1), found, shape)}),
                        .others = {}};
    if (!others.empty())
        made.others = all.index_select(0, at::tensor(thinned(others)));
    return made;
}

// Large enough for smooth parts, and not so large that deep models take long.
constexpr int32_t height = 96, width = 160;
// PSNRs to fp32 in dB.  The result must reach the first; programs aim for one after the other until
// it does.
constexpr std::array<double, 6> aims = {40, 42, 45, 50, 55, 60};
// The least PSNR in dB of each fine pattern.
constexpr double least_pattern_psnr = 30;

// All samples of the shape's range: smooth and rough parts on the left, and on the right sharp
// edges in pure colours, which give layers larger numbers than most frames do.
at::Tensor calibration_picture(const Shape &shape)
{
    const at::Tensor soft =
        ((test_picture({1, shape.channels, shape.height, shape.width}) - 0.5) * 1.6 + 0.5)
            .clamp(0, 1); // as fractions
    const at::Tensor is_right =
        at::arange(shape.width, at::kFloat).view({1, 1, 1, -1}).gt(shape.width / 2.0);
    const at::Tensor picture = at::where(is_right, soft.gt(0.5).to(at::kFloat), soft);
    return in_range(picture, shape).contiguous();
}

// Stripes and chequers of one sample, in some channels and in all.  Their rounding errors are the
// same everywhere and add up; in other pictures they are lost among other errors.
std::vector<at::Tensor> fine_patterns(const Shape &shape)
{
    constexpr int32_t rows = 64, columns = 96;
    const at::Tensor x = at::arange(columns, at::kInt).view({1, 1, 1, -1}).expand({1, 1, rows, -1});
    const at::Tensor y = at::arange(rows, at::kInt).view({1, 1, -1, 1}).expand({1, 1, -1, columns});
    const at::Tensor channel = at::arange(shape.channels, at::kInt).view({1, -1, 1, 1});
    const at::Tensor upright = x.remainder(2), level = y.remainder(2), both = (x + y).remainder(2),
                     wide = x.remainder(4).ge(2), first = channel.eq(0),
                     last = channel.eq(shape.channels - 1), all = at::ones_like(channel);
    std::vector<at::Tensor> patterns;
    for (const at::Tensor &fractions :
         {upright * first * 1.0, upright * first * 0.3, upright * all * 1.0, level * first * 1.0,
          level * all * 1.0, both * all * 1.0, at::where(last, wide * all, both * all) * 1.0})
        patterns.push_back(in_range(fractions.to(at::kFloat), shape).contiguous());
    return patterns;
}

// Returns nullopt if the model does not take the picture.
std::optional<c10::IValue> result_of(const Variant &variant, const Source &source,
                                     const at::Tensor &picture)
{
    try {
        return run_as(variant, source, picture);
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
    }
    return std::nullopt;
}

// Returns whether it took the picture.
using Take = std::function<bool(const at::Tensor &)>;

// Tries pictures until `takes` returns true.  The second is the first one's corner, enlarged:
// wide areas, and edges far apart.
void try_pictures(const Shape &shape, const Take &takes)
{
    const auto picture = [&](int32_t rows, int32_t columns) {
        return calibration_picture(shape.sized(1, rows, columns));
    };
    const at::Tensor fine = picture(height, width);
    const at::Tensor wide = at::upsample_nearest2d(picture(height / 4, width / 4), {height, width});
    if (!takes(at::cat({fine, wide})) && !takes(fine))
        takes(calibration_picture(shape));
}

// Pictures that variants are compared on.
struct Sample {
    at::Tensor images;
    c10::IValue plain;
    at::Tensor others = {}; // run only to calibrate, not compared
};

// Returns the first that the model takes of those that `try_all` tries.
std::optional<Sample> taken_sample(const Source &source,
                                   const std::function<void(const Take &)> &try_all)
{
    std::optional<Sample> found;
    try_all([&](const at::Tensor &tried) {
        if (auto plain = result_of(plain_variant(source), source, tried))
            found = {tried, std::move(*plain)};
        return found.has_value();
    });
    return found;
}

// Returns the patterns that the model takes.
std::vector<Sample> patterns_to_judge(const Source &source, const Shape &shape)
{
    std::vector<Sample> taken;
    for (const at::Tensor &pattern : fine_patterns(shape))
        if (auto plain = result_of(plain_variant(source), source, pattern))
            taken.push_back({pattern, std::move(*plain)});
    return taken;
}

// Returns the PSNR to fp32 of the sample that is worst; nullopt if there is none.
std::optional<double> worst_psnr(const std::vector<Sample> &samples, const Variant &variant,
                                 const Source &source)
{
    std::optional<double> worst;
    for (const Sample &sample : samples) {
        const double decibel =
            psnr_decibel(sample.plain, run_as(variant, source, sample.images), variant.peak);
        worst = std::min(worst.value_or(decibel), decibel);
    }
    return worst;
}

std::string with_decibel(const Int8Layers &layers, double decibel,
                         const std::optional<double> &of_patterns)
{
    char text[80];
    int length = std::snprintf(text, sizeof text, "%zu of %zu layers, %.1f dB PSNR from fp32",
                               layers.in_int8, layers.all, decibel);
    std::string words(text, static_cast<size_t>(length));
    if (of_patterns) {
        length =
            std::snprintf(text, sizeof text, ", %.1f in the worst of fine patterns", *of_patterns);
        words.append(text, static_cast<size_t>(length));
    }
    return words;
}

// The range that differences are compared with.  Results such as depth may have a smaller one than
// pictures.  0 for tensors that are no pictures: each has its own range.
double peak_of(const c10::IValue &plain, const Source &source, const Shape &shape)
{
    if (source.asked.results != Results::picture || !plain.isTensor())
        return 0;
    const double made = range_of(plain.toTensor());
    return made > 0 ? std::min<double>(made, shape.range()) : shape.range();
}

at::Tensor with_others(const Sample &sample)
{
    return sample.others.defined() ? at::cat({sample.images, sample.others}) : sample.images;
}

// Returns whether the result in int8 is close enough to fp32.
bool calibrate_for(const Int8Goal &goal, Variant &variant, const Source &source,
                   const Sample &pictures, const std::vector<Sample> &patterns)
{
    const Int8Layers layers = calibrate_fused(
        variant.module, goal, [&] { run_as(variant, source, with_others(pictures)); });
    if (layers.in_int8 == 0)
        return false;
    variant.peak = goal.peak;
    variant.exceeded_range = layers.exceeded_range;
    const double decibel = *worst_psnr({pictures}, variant, source);
    if (decibel < aims.front())
        return false;
    const std::optional<double> of_patterns = worst_psnr(patterns, variant, source);
    variant.about = with_decibel(layers, decibel, of_patterns);
    return !of_patterns || *of_patterns >= least_pattern_psnr;
}

// Layers between programs may amplify what each program loses, hence several aims.
void calibrate_with(const Sample &sample, const std::vector<Sample> &patterns, Variant &variant,
                    const Source &source, const Shape &shape)
{
    const double peak = peak_of(sample.plain, source, shape);
    for (const double aim : aims)
        if (calibrate_for({aim, peak, static_cast<size_t>(sample.images.size(0))}, variant, source,
                          sample, patterns))
            return;
    throw Failure(DNN_TORCH_BAD_MODEL,
                  "no layer of it can be computed in int8 without losing too much");
}

// Models that take no small pictures take one or two whole ones.
std::optional<Sample> sample_of_clip(const Source &source, const at::Tensor &samples,
                                     const Shape &shape)
{
    constexpr int64_t most_whole = 2;
    const ClipWindows small = windows_of(samples, shape, height, width);
    if (!small.liveliest.defined())
        return std::nullopt;
    bool takes_all = true;
    std::optional<Sample> found = taken_sample(source, [&](const Take &takes) {
        takes_all = takes(small.liveliest);
        if (takes_all || takes(small.liveliest.narrow(0, 0, 1)))
            return;
        const at::Tensor whole =
            windows_of(samples, shape, samples.size(2), samples.size(3)).liveliest;
        if (whole.defined() && !takes(whole.narrow(0, 0, std::min(whole.size(0), most_whole))))
            takes(whole.narrow(0, 0, 1));
    });
    if (found && takes_all)
        found->others = small.others;
    return found;
}

// For all clips alike.
void calibrate_with_generated(Variant &variant, const Source &source, const Shape &shape)
{
    const auto sample =
        taken_sample(source, [&](const Take &takes) { try_pictures(shape, takes); });
    if (!sample)
        throw Failure(DNN_TORCH_BAD_MODEL,
                      "the model takes none of the pictures to calibrate with");
    calibrate_with(*sample, patterns_to_judge(source, shape), variant, source, shape);
}

} // namespace

// A clip need not contain fine patterns, so these are judged only without one.
void calibrate(Variant &variant, const Source &source, const Shape &shape,
               const at::Tensor &samples)
{
    if (!samples.defined())
        return calibrate_with_generated(variant, source, shape);
    if (const auto sample = sample_of_clip(source, samples, shape)) {
        calibrate_with(*sample, {}, variant, source, shape);
        variant.about += " in parts of the clip";
        return;
    }
    calibrate_with_generated(variant, source, shape);
    variant.about += "; the clip's pictures are flat, or the model takes none of them";
}

void show_pictures(const Variant &variant, const Source &source, const Shape &shape)
{
    learn_typical_samples(variant.module, [&] {
        try_pictures(shape, [&](const at::Tensor &picture) {
            return result_of(variant, source, picture).has_value();
        });
    });
}

} // namespace engine_torch
