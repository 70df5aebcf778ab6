// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_task.h"

#include "host/contract/contract_fields.h"
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

std::string name_of(int channels)
{
    return channels == 4 ? "RGBA" : channels == 3 ? "RGB" : "luma";
}

std::string words_of(const FoundChannels &found, As as)
{
    const bool is_any = found.channels == Channels::any;
    const std::string takes = is_any ? "RGB and luma" : name_of(count_of(found.channels));
    if (as != As::picture)
        return takes + ", and makes " + dnn_torch::name_of(as);
    if (!found.made || found.made == count_of(found.channels))
        return takes;
    return takes + ", and makes " + (found.made == 1 ? "gray" : name_of(found.made));
}

} // namespace

void PicturePlan::follow(std::shared_ptr<const ModelPlan> plan)
{
    DnnTorchPlanFacts facts = plan->facts();
    interleaved = facts.interleaved != 0;
    in_order = facts.in_order != 0;
    codes = facts.takes_codes != 0 && can_pass_codes(code_format()) && are_plain(contract.input) &&
            are_plain(contract.output) && made == channels && channels < 4 &&
            contract.as == As::picture;
    model = std::move(plan);
}

PictureTask::PictureTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size)
    : Task(std::move(model)), probe_(Task::model()), contract_(contract), batch_size_(batch_size)
{
}

TaskFindings PictureTask::study()
{
    found_ = probe_.find_channels(contract_.as);
    found_.channels = agreed_channels(contract_, found_.channels);
    follow_model();
    TaskFindings findings = {.takes = words_of(found_, contract_.as),
                             .doubt = "",
                             .numbers = contract_in_words(contract_)};
    if (!found_.doubt.empty() && contract_.input.channels == 0)
        findings.doubt = "the model is run on luma alone, for it fails on RGB: " + found_.doubt +
                         "; if it is a model of RGB, that is to be mended";
    return findings;
}

// A run has shown of which types its tensors are.
void PictureTask::follow_model()
{
    follow_types(model()->metadata("input_type"), model()->metadata("output_type"), contract_);
}

int PictureTask::channels_of(AVPixelFormat format) const
{
    return found_.channels == Channels::any ? model_channels(format) : count_of(found_.channels);
}

Size PictureTask::output_for(const FrameShape &input)
{
    const int channels = channels_of(input.format);
    const Size made = probe_.find_output(input.size, channels, made_of(channels));
    expect_scale(contract_, input.size, made);
    if (contract_.as == As::alpha && made != input.size)
        throw Error(AVERROR(EINVAL), "as=alpha needs a result of the frame's size, and the model "
                                     "makes " +
                                         to_text(made) + " of " + to_text(input.size));
    return made;
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
    plan->made = made_of(plan->channels);
    DnnTorchTensor shape = picture_shape(static_cast<int>(batch_size_), plan->channels, input.size);
    std::shared_ptr<const ModelPlan> run = model()->plan({&shape, 1}, tuning_seconds);
    DnnTorchPlanFacts facts = run->facts();
    plan->follow(run);
    plan->mixes = plan->output == input.size && plan->keeps_format() &&
                  (plan->made == plan->channels || contract_.as == As::alpha);
    plan->batch_size = plan->in_order ? 1 : batch_size_;
    return {.plan = std::move(plan),
            .cost = {.seconds = facts.run_seconds, .bytes = facts.run_bytes},
            .variant = run->variant(),
            .advice = run->advice()};
}

} // namespace dnn_torch
