// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "class_map_task.h"

#include "base/compose.h"
#include "host/frames/formats.h"
#include "host/frames/frame_feeder.h"
#include "host/model/contract_fields.h"
#include "host/model/contract_inputs.h"
#include "host/model/label_lists.h"
#include "host/model/picture_tensors.h"
#include "host/probing/model_contract.h"
#include "host/probing/taken_picture.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <optional>
#include <utility>

namespace dnn_torch
{

ClassMapTask::ClassMapTask(std::shared_ptr<Model> model, const Contract &contract,
                           size_t batch_size)
    : Task(std::move(model)), contract_(contract), batch_size_(batch_size)
{
}

ClassMapTask::Tried ClassMapTask::attempt(Size size, int batch)
{
    const auto tensors = probe_tensors(*model(), picture_shape(batch, channels_, size));
    return {.size = size, .maps = find_class_maps(tensors, batch, contract_.output.layout)};
}

// Reports the first failure: the later sizes are mere guesses.
ClassMapTask::Tried ClassMapTask::try_any()
{
    if (contract_.sizes.only)
        return attempt(*contract_.sizes.only);
    std::optional<Error> first;
    for (const int extent : {64, 256, 512, 224, 518})
        try {
            return attempt({extent, extent});
        } catch (const Error &error) {
            if (is_final(error) || error.code() == AVERROR_INVALIDDATA)
                throw;
            if (!first)
                first = error;
        }
    throw Error(first->code(), concat("as=index, as=colors and classes are for segmentations of ",
                                      channels_in_words(channels_),
                                      ", on which the model fails: ", first->what()));
}

TaskFindings ClassMapTask::examine()
{
    if (!contract_.pictures.empty())
        throw Error(AVERROR(ENOSYS), "the model takes an extra picture with each frame, which "
                                     "as=index, as=colors and classes do not give it");
    if (contract_.sizes.tile && !contract_.sizes.never_tiles())
        throw Error(AVERROR(EINVAL), "tile is for pictures; the classes of a pixel depend on all "
                                     "of a frame");
    channels_ = contract_.input.channels ? contract_.input.channels : 3;
    const Tried tried = try_any();
    classes_ = tried.maps.classes;
    if (classes_ == 1 && !contract_.classes.empty())
        throw Error(AVERROR(EINVAL), "classes: the model makes one map alone, which has no classes "
                                     "to choose among; as=alpha without classes takes it");
    labels_ = labels_of(contract_.model, classes_ == 1 ? 0 : classes_, true);
    chosen_classes(contract_.classes, labels_, classes_);
    set_ranges_of_types(model()->metadata("input_type"), "", contract_);
    const std::string kinds = classes_ ? concat("scores of ", counted_classes(classes_))
                                       : std::string("numbers of classes");
    return {.takes = concat(channels_in_words(channels_), ", and makes ", kinds, " for each pixel"),
            .warning = "",
            .numbers = contract_in_words(contract_)};
}

// If the maps hold class numbers, only the labels give the count.
int ClassMapTask::class_count() const
{
    return classes_ ? classes_ : static_cast<int>(labels_.size());
}

const AVPixelFormat *ClassMapTask::formats() const
{
    if (contract_.as != As::alpha)
        return formats_to_feed(channels_);
    return channels_ == 4 ? rgb_formats_with_alpha() : formats_with_alpha(channels_);
}

const AVPixelFormat *ClassMapTask::result_formats() const
{
    if (contract_.as == As::alpha)
        return formats();
    return contract_.as == As::colours ? formats_of_class_colours()
                                       : formats_of_class_numbers(class_count());
}

// Maps are scaled to the frame.
ResultShape ClassMapTask::output_for(const FrameShape &input)
{
    if (contract_.sizes.scale > 0 || contract_.sizes.target)
        throw Error(AVERROR(EINVAL), "scale and size are for pictures; a class map has the size of "
                                     "its frame, put scale after the filter");
    return Task::output_for(input);
}

Placing ClassMapTask::placing() const
{
    if (!contract_.sizes.only)
        return Placing::corner;
    return contract_.sizes.fit == Fit::letterbox ? Placing::letterbox : Placing::stretch;
}

// Most models take any size, or any multiple of some number.
ClassMapTask::Tried ClassMapTask::picture_for(Size frame)
{
    if (contract_.sizes.only)
        return attempt(*contract_.sizes.only);
    const Size minimum = contract_.sizes.minimum.value_or(Size{1, 1});
    const Size least = {std::max(frame.width, minimum.width),
                        std::max(frame.height, minimum.height)};
    if (contract_.sizes.multiple)
        return attempt(rounded_up(least, *contract_.sizes.multiple));
    std::optional<Error> first;
    Size last = {0, 0};
    for (const int multiple : {1, 2, 4, 8, 16, 32, 64, 14})
        try {
            const Size size = rounded_up(least, multiple);
            if (size != std::exchange(last, size))
                return attempt(size);
        } catch (const Error &error) {
            if (is_final(error))
                throw;
            if (!first)
                first = error;
        }
    throw Error(first->code(),
                concat("the model takes no frames of ", to_text(frame), ": ", first->what(),
                       "; if it takes one size alone, say so in a contract: "
                       "{\"input\": {\"size\": [WIDTH, HEIGHT]}}"));
}

NewPlan ClassMapTask::plan(const FrameShape &input, const PlanParameters &parameters)
{
    const Tried tried = picture_for(input.size);
    auto plan = std::make_shared<ClassMapPlan>(input, contract_);
    plan->number_inputs = numbers_in(contract_);
    plan->channels = channels_;
    plan->maps = tried.maps;
    plan->picture = tried.size;
    plan->placement = place(input.size, tried.size, placing());
    plan->shown = chosen_classes(contract_.classes, labels_, classes_);
    const DnnTorchTensor shape =
        picture_shape(static_cast<int>(batch_size_), channels_, tried.size, contract_.input);
    plan->model = model()->plan({&shape, 1}, parameters);
    const DnnTorchPlanFacts facts = plan->model->facts();
    plan->in_order = facts.in_order != 0;
    plan->batch_size = plan->in_order ? 1 : batch_size_;
    const std::string note =
        tried.size == input.size
            ? ""
            : concat("the model gets ", to_text(tried.size), " of ", to_text(input.size));
    return plan_of(plan, *plan->model, note);
}

} // namespace dnn_torch
