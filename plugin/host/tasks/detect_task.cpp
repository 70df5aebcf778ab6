// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detect_task.h"

#include "base/compose.h"
#include "detect_session.h"
#include "host/error.h"
#include "host/model/contract_inputs.h"
#include "host/model/label_lists.h"
#include "host/model/picture_tensors.h"
#include "host/probing/model_contract.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

const char *name_of(Placing placing)
{
    switch (placing) {
    case Placing::letterbox:
        return "letterboxed";
    case Placing::stretch:
        return "stretched";
    case Placing::crop:
        return "cropped";
    default:
        return "unscaled";
    }
}

std::string in_words(const Decoder &decoder)
{
    return concat(decoder.name(), " decodes what it finds",
                  decoder.has_turned_boxes() ? ", turned boxes" : "");
}

} // namespace

std::unique_ptr<TaskSession> DetectPlan::open_session() const
{
    return std::make_unique<DetectSession>(*this);
}

DetectTask::DetectTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size,
                       DetectShared shared)
    : FindingsTask(std::move(model), contract, batch_size, std::move(shared)),
      probe_(Task::model(), contract_, shared_.settings)
{
}

TaskFindings DetectTask::examine()
{
    probe_.examine();
    const DetectorInput typical = probe_.input_for({640, 480});
    const std::unique_ptr<const Decoder> decoder = probe_.decoder_for(typical.size);
    decoder_ = decoder->name();
    names_.count = decoder->classes();
    check_count_of_classes();
    names_.labels =
        labels_of(contract_.model, names_.count ? names_.count : shared_.settings.classes,
                  decoder->has_background());
    if (shared_.step->masks() != ShownMasks::none && !decoder->has_masks())
        throw Error(AVERROR(EINVAL), concat("the model makes no masks (", decoder_,
                                            " decodes boxes); leave masks away"));
    check_classes(shared_.settings.hidden, names_);
    check(*shared_.parameters->latest());
    std::string warning = warning_of_labels();
    if (const std::string of_anchors = warning_of_anchors(*decoder); !of_anchors.empty())
        add_to_list(warning, of_anchors, "; ");
    return {.takes =
                concat(probe_.in_words(), ", ", name_of(typical.placing), "; ", in_words(*decoder)),
            .warning = std::move(warning),
            .numbers = contract_in_words(contract_)};
}

const AVPixelFormat *DetectTask::formats() const
{
    return shared_.step->masks() == ShownMasks::alpha
               ? formats_to_feed_with_alpha(probe_.channels())
               : formats_to_feed(probe_.channels());
}

// All labels would be wrong.  Not every decoder knows the count.
void DetectTask::check_count_of_classes() const
{
    const int requested = shared_.settings.classes, count = static_cast<int>(names_.count);
    if (requested != 0 && count != 0 && requested != count)
        throw Error(AVERROR(EINVAL),
                    concat("nb_classes=", requested, ": the model has ",
                           counted_classes(static_cast<size_t>(count)), " (", decoder_,
                           "); write nb_classes=", count, ", or leave it away"));
}

std::string DetectTask::warning_of_labels() const
{
    const size_t labels = names_.labels.size(), classes = static_cast<size_t>(names_.count);
    if (labels == 0 || labels >= classes)
        return "";
    return concat("the model has ", counted_classes(classes), ", and there are labels for ", labels,
                  "; the others are called by their numbers");
}

std::string DetectTask::warning_of_anchors(const Decoder &decoder) const
{
    const DetectSettings &settings = shared_.settings;
    if (decoder.has_anchors() || (settings.anchors.empty() && settings.cells.width == 0))
        return "";
    return concat(settings.anchors.empty() ? "cell_w and cell_h are" : "anchors is",
                  " ignored: ", decoder.name(), " has no anchors");
}

void DetectTask::check(const DetectParameters &parameters) const
{
    check_classes(parameters.classes, names_);
}

// Frames pass as they are.  Tries whether the model takes them when scaled.
ResultShape DetectTask::output_for(const FrameShape &input)
{
    probe_.decoder_for(probe_.input_for(input.size).size);
    return Task::output_for(input);
}

NewPlan DetectTask::plan(const FrameShape &input, const PlanParameters &parameters)
{
    const DetectorInput model_input = probe_.input_for(input.size);
    auto plan = std::make_shared<DetectPlan>();
    plan->input = input;
    plan->output = input.size;
    plan->decoder = probe_.decoder_for(model_input.size);
    plan->number_inputs = numbers_in(contract_);
    plan->parameters = shared_.parameters;
    plan->names = names_;
    plan->picture = model_input.size;
    plan->placement =
        place(input.size, model_input.size, model_input.placing, chroma_unit(input.format));
    plan->channels = probe_.channels();
    plan->border = shared_.settings.border;
    if (!shared_.settings.hidden.empty())
        plan->hidden.emplace(shared_.settings.hidden, names_);
    plan->with_masks = shared_.step->masks() != ShownMasks::none;
    // By now a run has shown the types of the model's tensors.
    Contract numbers = contract_;
    set_ranges_of_types(model()->metadata("input_type"), "", numbers);
    plan->numbers = numbers.input;

    const auto batch = static_cast<int>(batch_size_);
    const DnnTorchTensor shape =
        picture_shape(batch, plan->channels, model_input.size, plan->numbers);
    plan->model = model()->plan({&shape, 1}, parameters);
    const DnnTorchPlanFacts facts = plan->model->facts();
    plan->in_order = facts.in_order != 0;
    plan->interleaved = facts.interleaved != 0;
    plan->batch_size = plan->in_order ? 1 : batch_size_;
    time_base_ = input.time_base;
    const std::string note = concat("frames come to the model as ", to_text(model_input.size), ", ",
                                    name_of(model_input.placing), "; ", in_words(*plan->decoder));
    return plan_of(plan, *plan->model, note);
}

} // namespace dnn_torch
