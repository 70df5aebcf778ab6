// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_trial.h"

#include "host/error.h"
#include "host/frames/images.h"
#include "host/model/picture_tensors.h"
#include "host/workers/core_budget.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cstddef>
#include <functional>
#include <memory>
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
