// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_trial.h"

#include "host/error.h"
#include "host/frames/images.h"
#include "host/inference/core_budget.h"
#include "picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cstddef>
#include <memory>

namespace dnn_torch
{
namespace
{

// Copies a picture that an engine gave as floats, channel after channel.
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

TrialPicture run_trial(Session &session, const TrialTerms &terms, const TrialPicture &picture)
{
    std::vector<float> memory = picture.samples;
    const Images output =
        run_pictures(session, float_planes(memory.data(), 1, terms.channels, picture.size));
    const int made = terms.made ? terms.made : terms.channels;
    if (output.channels != made || output.element != Element::f32)
        throw Error(AVERROR_INVALIDDATA, "the model returned other channels than before");
    return copy_of(output);
}

} // namespace

Locality measure_on(Model &model, const TrialTerms &terms)
{
    const int extent = round_up(small_extent, terms.multiple);
    const Size size = terms.only.value_or(
        Size{std::max(extent, terms.least.width), std::max(extent, terms.least.height)});
    DnnTorchTensor shape = picture_shape(1, terms.channels, size);
    std::shared_ptr<const ModelPlan> plan = model.plan({&shape, 1}, 0);
    if (plan->facts().in_order)
        throw Error(AVERROR(EINVAL), "the model remembers earlier frames, so that frames cannot be "
                                     "cut into tiles; use tile=0");
    auto found = std::make_shared<Locality>();
    model.try_out("it was measured how far it looks", [plan, terms, found] {
        Session session(plan, static_cast<int>(usable_machine().cores));
        *found = measure_locality(
            terms, [&](const TrialPicture &picture) { return run_trial(session, terms, picture); });
    });
    return *found;
}

} // namespace dnn_torch
