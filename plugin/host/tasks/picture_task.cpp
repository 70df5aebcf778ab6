// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_task.h"

#include "host/frames/formats.h"
#include "model_contract.h"
#include "picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

#include <array>
#include <utility>

namespace dnn_torch
{
namespace
{

const char *name_of(Channels channels)
{
    switch (channels) {
    case Channels::rgb:
        return "RGB";
    case Channels::luma:
        return "luma";
    default:
        return "RGB and luma";
    }
}

} // namespace

void PicturePlan::follow(std::shared_ptr<const ModelPlan> plan)
{
    DnnTorchPlanFacts facts = plan->facts();
    interleaved = facts.interleaved != 0;
    in_order = facts.in_order != 0;
    codes = facts.takes_codes != 0 && can_pass_codes(code_format()) && are_plain(contract.input) &&
            are_plain(contract.output);
    model = std::move(plan);
}

PictureTask::PictureTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size)
    : Task(std::move(model)), probe_(Task::model()), contract_(contract), batch_size_(batch_size)
{
}

TaskFindings PictureTask::study()
{
    FoundChannels found = probe_.find_channels();
    channels_ = agreed_channels(contract_, found.channels);
    follow_model();
    TaskFindings findings = {
        .takes = name_of(channels_), .doubt = "", .numbers = contract_in_words(contract_)};
    if (!found.doubt.empty() && contract_.input.channels == 0)
        findings.doubt = "the model is run on luma alone, for it fails on RGB: " + found.doubt +
                         "; if it is a model of RGB, that is to be mended";
    return findings;
}

// A run has shown of which types its tensors are.
void PictureTask::follow_model()
{
    follow_types(model()->metadata("input_type"), model()->metadata("output_type"), contract_);
}

const AVPixelFormat *PictureTask::formats() const
{
    switch (channels_) {
    case Channels::rgb:
        return formats_for_rgb_models();
    case Channels::luma:
        return formats_for_luma_models();
    default:
        return formats_for_any_model();
    }
}

int PictureTask::channels_of(AVPixelFormat format) const
{
    return channels_ == Channels::any ? model_channels(format) : channels_ == Channels::rgb ? 3 : 1;
}

Size PictureTask::output_for(const FrameShape &input)
{
    const Size output = probe_.find_output(input.size, channels_of(input.format));
    expect_scale(contract_, input.size, output);
    return output;
}

// Numbers for R, G and B make no sense for luma.
void PictureTask::check_contract(int channels) const
{
    const auto differ = [](const std::array<float, 3> &three) {
        return three[0] != three[1] || three[1] != three[2];
    };
    for (const auto &[name, three] :
         {std::pair("mean", contract_.input.mean), std::pair("std", contract_.input.deviation)})
        if (channels == 1 && differ(three))
            throw Error(AVERROR(EINVAL), std::string("the model takes one channel, and ") + name +
                                             " has three numbers; give it one");
}

NewPlan PictureTask::plan(const FrameShape &input, double tuning_seconds)
{
    Size output = output_for(input);
    follow_model(); // small pictures may have shown nothing
    auto plan = std::make_shared<PicturePlan>(input, output, contract_);
    plan->channels = channels_of(input.format);
    check_contract(plan->channels);
    DnnTorchTensor shape = picture_shape(static_cast<int>(batch_size_), plan->channels, input.size);
    std::shared_ptr<const ModelPlan> run = model()->plan({&shape, 1}, tuning_seconds);
    DnnTorchPlanFacts facts = run->facts();
    plan->follow(run);
    plan->batch_size = plan->in_order ? 1 : batch_size_;
    return {.plan = std::move(plan),
            .cost = {.seconds = facts.run_seconds, .bytes = facts.run_bytes},
            .variant = run->variant(),
            .advice = run->advice()};
}

} // namespace dnn_torch
