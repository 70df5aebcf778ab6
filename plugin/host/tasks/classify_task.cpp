// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classify_task.h"

#include "base/compose.h"
#include "classify_session.h"
#include "host/model/contract_inputs.h"
#include "host/model/label_lists.h"
#include "host/model/picture_tensors.h"
#include "host/probing/model_contract.h"

#include <algorithm>
#include <utility>

namespace dnn_torch
{

namespace
{

// The option overrides the contract.
ScoreKind score_kind(ScoreKind option, const std::string &contract)
{
    if (option != ScoreKind::automatic || contract.empty())
        return option;
    return contract == "softmax"   ? ScoreKind::softmax
           : contract == "sigmoid" ? ScoreKind::sigmoid
                                   : ScoreKind::plain;
}

} // namespace

std::unique_ptr<TaskSession> ClassifyPlan::open_session() const
{
    return std::make_unique<ClassifySession>(*this);
}

ClassifyTask::ClassifyTask(std::shared_ptr<Model> model, const Contract &contract,
                           size_t batch_size, ClassifyShared shared)
    : FindingsTask(std::move(model), contract, batch_size, std::move(shared)),
      probe_(Task::model(), contract_, shared_.settings.size)
{
}

TaskFindings ClassifyTask::examine()
{
    probe_.examine();
    labels_ = labels_of(contract_.model, probe_.scores().classes, false);
    return {.takes = concat(probe_.in_words(), ", and gives scores of ",
                            counted_classes(probe_.scores().classes)),
            .warning = warning_of_labels(),
            .numbers = contract_in_words(contract_)};
}

std::string ClassifyTask::warning_of_labels() const
{
    const auto classes = static_cast<size_t>(probe_.scores().classes);
    if (labels_.empty() || labels_.size() >= classes)
        return "";
    return concat("the model has ", counted_classes(classes), ", and there ",
                  labels_.size() == 1 ? "is " : "are ", counted(labels_.size(), "label"),
                  "; the others are called by their numbers");
}

size_t ClassifyTask::requested_pictures() const
{
    const ClassifySettings &settings = shared_.settings;
    return settings.what == ClassifyWhat::frame ? batch_size_
                                                : std::max(batch_size_, settings.crops);
}

NewPlan ClassifyTask::plan(const FrameShape &input, const PlanParameters &parameters)
{
    for (const NumberInput &number : numbers_in(contract_))
        throw Error(AVERROR(EINVAL), concat("inputs=", number.name, "=",
                                            number.of == NumberInput::Of::time ? "time" : "number",
                                            " is for whole frames, and not for a classifier, which "
                                            "may get several pictures of one"));
    auto plan = std::make_shared<ClassifyPlan>();
    plan->input = input;
    plan->output = input.size;
    plan->settings = shared_.settings;
    plan->settings.scores = score_kind(plan->settings.scores, contract_.model.scores);
    plan->parameters = shared_.parameters;
    plan->labels = labels_;
    plan->scores = probe_.scores();
    plan->picture = probe_.size();
    plan->chroma = chroma_unit(input.format);
    plan->channels = probe_.channels();
    plan->pictures = probe_.batch_for(requested_pictures());
    // By now a run has shown the types of the model's tensors.
    Contract numbers = contract_;
    set_ranges_of_types(model()->metadata("input_type"), "", numbers);
    plan->numbers = numbers.input;

    const DnnTorchTensor shape = picture_shape(static_cast<int>(plan->pictures), plan->channels,
                                               plan->picture, plan->numbers);
    plan->model = model()->plan({&shape, 1}, parameters);
    const DnnTorchPlanFacts facts = plan->model->facts();
    plan->in_order = facts.in_order != 0;
    plan->interleaved = facts.interleaved != 0;
    plan->batch_size = batch_size_;
    if (plan->in_order)
        plan->batch_size = plan->pictures = 1;
    time_base_ = input.time_base;
    const std::string note =
        plan->pictures < requested_pictures() ? "the model takes one picture in each run" : "";
    return plan_of(plan, *plan->model, note);
}

} // namespace dnn_torch
