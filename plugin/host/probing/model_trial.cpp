// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_trial.h"

#include "extra_pictures.h"
#include "host/error.h"
#include "host/frames/images.h"
#include "host/model/contract.h"
#include "host/model/contract_inputs.h"
#include "host/model/picture_tensors.h"
#include "host/workers/core_budget.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

namespace dnn_torch
{
namespace
{

// Copies an engine's picture of floats to planes.
TrialPicture copy_of(const Images &images)
{
    TrialPicture picture = {.size = {images.width, images.height}, .samples = {}};
    const auto *data = static_cast<const std::byte *>(images.data);
    for (int c = 0; c < images.channels; c++)
        for (int y = 0; y < images.height; y++)
            for (int x = 0; x < images.width; x++)
                picture.samples.push_back(*reinterpret_cast<const float *>(
                    data + c * images.channel_stride + y * images.row_stride +
                    x * images.column_stride));
    return picture;
}

TrialPicture run_trial(Session &session, const TrialParameters &parameters,
                       const TrialPicture &picture)
{
    std::vector<float> memory = picture.samples;
    const Images output =
        run_pictures(session, float_planes(memory.data(), 1, parameters.channels, picture.size));
    const int made = parameters.made ? parameters.made : parameters.channels;
    if (output.channels != made || output.element != Element::f32)
        throw Error(AVERROR_INVALIDDATA, "the model returned other channels than before");
    return copy_of(output);
}

// Opens a session of the model and runs `work` within the model's time limit.  Throws Error also if
// the model keeps state between pictures.
void try_with(Model &model, const TrialParameters &given, const std::string &doing,
              const std::function<void(const TrialParameters &, const RunTrial &)> &work)
{
    const Size size = taken_size(given, small_extent, small_extent);
    DnnTorchTensor shape = picture_shape(1, given.channels, size);
    std::shared_ptr<const ModelPlan> plan = model.plan({&shape, 1}, {.as_saved = true});
    if (plan->facts().in_order)
        throw Error(AVERROR(EINVAL), "the model remembers earlier frames, so that frames cannot be "
                                     "cut into tiles; use tile=0");
    TrialParameters parameters = given;
    parameters.is_coarse = plan->facts().rounds_to_16_bits != 0;
    const size_t threads = usable_machine().cores;
    model.try_out(doing, [plan, parameters, work, threads] {
        Session session(plan, static_cast<int>(threads));
        work(parameters,
             [&](const TrialPicture &picture) { return run_trial(session, parameters, picture); });
    });
}

// Returns whether the model cannot run such pictures, so that a trial shows nothing.
bool is_about_the_picture(const Error &error)
{
    return error.code() == AVERROR_EXTERNAL || error.code() == AVERROR_INVALIDDATA ||
           error.code() == AVERROR(ENOMEM);
}

} // namespace

constexpr double detail_step = 0.03;

// Samples of a frame of that brightness, with some detail.
void fill_with_detail(double brightness, const Images &images, const PictureNumbers &numbers)
{
    const NumberMap map = map_of(numbers);
    for (int c = 0; c < images.channels; c++)
        for (int y = 0; y < images.height; y++)
            for (int x = 0; x < images.width; x++) {
                const double detail = ((x / 3 + y / 5 + c) % 4) * detail_step;
                const size_t number = number_of(c);
                *reinterpret_cast<float *>(static_cast<std::byte *>(images.data) +
                                           c * images.channel_stride + y * images.row_stride +
                                           x * images.column_stride) =
                    static_cast<float>(brightness + detail) * map.factor[number] +
                    map.offset[number];
            }
}

constexpr double dark = 0.15, bright = 0.7;

TrialPicture run_pair(Session &session, const Contract &contract, Size size, float t,
                      double brightness = dark)
{
    const int channels = contract.input.channels, all = input_channels(contract, channels);
    std::vector<float> memory(static_cast<size_t>(all) * static_cast<size_t>(size.width) *
                              static_cast<size_t>(size.height));
    const Images input = float_planes(memory.data(), 1, all, size);
    fill_with_detail(brightness, channels_of(input, 0, channels), contract.input);
    for (const ExtraPicture &extra : extra_pictures(contract, channels)) {
        if (extra.is_plane())
            fill_plane(extra, t, input, 0);
        else
            fill_with_detail(extra.frame ? bright : dark,
                             channels_of(input, extra.first, extra.channels), extra.numbers);
    }
    std::vector<InputNumbers> numbers;
    if (!contract.time.between.empty())
        numbers.push_back(
            {.name = contract.time.between, .numbers = std::vector{t}, .is_for_all = true});
    return copy_of(run_pictures(session, input, numbers));
}

// Returns the mean, without the detail.
double brightness_of(const TrialPicture &picture, const Contract &contract)
{
    const double sum = std::accumulate(picture.samples.begin(), picture.samples.end(), 0.0);
    const double mean = sum / static_cast<double>(std::max<size_t>(picture.samples.size(), 1));
    const NumberMap map = map_of(contract.output);
    return (mean - map.offset[0]) / map.factor[0] - 1.5 * detail_step;
}

// The work owns its result, because it may outlive this call if it exceeds the time limit.
Locality measure_on(Model &model, const TrialParameters &parameters)
{
    auto found = std::make_shared<Locality>();
    try_with(model, parameters, "it was measured how far it looks",
             [found](const TrialParameters &all, const RunTrial &run) {
                 *found = measure_locality(all, run);
             });
    return *found;
}

PairTrial try_pair_on(Model &model, const Contract &contract)
{
    const TrialParameters parameters = {.channels =
                                            input_channels(contract, contract.input.channels),
                                        .made = contract.input.channels,
                                        .multiple = contract.sizes.multiple.value_or(1),
                                        .only = contract.sizes.only,
                                        .numbers = map_of(contract.input)};
    auto found = std::make_shared<PairTrial>();
    const Size size = taken_size(parameters, small_extent, small_extent);
    std::shared_ptr<const ModelPlan> plan =
        model.plan(std::array{picture_shape(1, parameters.channels, size)}, {.as_saved = true});
    model.try_out("it was tried how it takes two frames", [plan, contract, size, found] {
        Session session(plan, 1);
        const TrialPicture early = run_pair(session, contract, size, 1.0F / 32),
                           late = run_pair(session, contract, size, 31.0F / 32);
        const double start = brightness_of(early, contract), end = brightness_of(late, contract),
                     same = brightness_of(run_pair(session, contract, size, 1.0F / 32, bright),
                                          contract);
        constexpr double near = 0.1 * (bright - dark);
        *found = {.makes_numbers = std::isfinite(start) && std::isfinite(end),
                  .sees_time = early.samples != late.samples,
                  .is_forward = start < dark + near && end > bright - near && same > bright - near,
                  .is_backward = start > bright - near && end < dark + near};
    });
    return *found;
}

bool is_seamless_on(Model &model, const TrialParameters &parameters, const std::vector<Cut> &cuts)
try {
    auto seamless = std::make_shared<bool>(true);
    try_with(model, parameters, "it was tried whether tiles show",
             [seamless, cuts](const TrialParameters &all, const RunTrial &run) {
                 for (const Cut &cut : cuts)
                     *seamless = *seamless && is_seamless(all, cut, run);
             });
    return *seamless;
} catch (const Error &error) {
    if (!is_about_the_picture(error))
        throw;
    return false;
}

RangeWarning range_warning_on(Model &model, const TrialParameters &parameters,
                              const Contract &contract)
try {
    auto found = std::make_shared<RangeWarning>();
    try_with(model, parameters, "it was tried which numbers it makes",
             [found, contract](const TrialParameters &all, const RunTrial &run) {
                 const Size size = taken_size(all, small_extent, small_extent);
                 TrialPicture in = trial_picture(all, Content::slope, size, Axis::across);
                 TrialPicture out = run(in);
                 const int channels = all.made ? all.made : all.channels;
                 *found = warning_of_range(
                     contract, float_planes(in.samples.data(), 1, all.channels, in.size),
                     float_planes(out.samples.data(), 1, channels, out.size));
             });
    return *found;
} catch (const Error &error) {
    const bool is_stateful = error.code() == AVERROR(EINVAL);
    if (!is_stateful && !is_about_the_picture(error))
        throw;
    return {};
}

} // namespace dnn_torch
