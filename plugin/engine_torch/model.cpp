// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "model.h"

#include "device.h"
#include "failure.h"
#include "graph_checks.h"
#include "load.h"
#include "processor_quirks.h"
#include "run_scope.h"

#include <ATen/ATen.h>

namespace
{

using engine_torch::Failure;
using engine_torch::Form;
using engine_torch::FormKind;
using engine_torch::Precision;

std::string or_empty(const char *text)
{
    return text ? text : "";
}

engine_torch::Wishes wishes_of(const DnnTorchModelOptions &options)
{
    return {or_empty(options.path), "", or_empty(options.device),
            engine_torch::parse_precision(or_empty(options.precision)),
            engine_torch::parse_optimize(or_empty(options.optimize))};
}

void check_shape(const DnnTorchShape &shape)
{
    if (shape.batch < 1 || shape.channels < 1 || shape.height < 1 || shape.width < 1)
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the shape to tune for is empty: all its extents must be at least 1");
}

bool is_plain(const Form &form)
{
    return form.kind == FormKind::saved && form.precision == Precision::fp32;
}

} // namespace

DnnTorchModel::DnnTorchModel(const DnnTorchModelOptions &options)
    : wishes_((engine_torch::check_options(options), wishes_of(options))),
      output_name_(or_empty(options.output_name))
{
    engine_torch::avoid_missing_instructions();
    const std::string wanted = or_empty(options.input_name);
    source_.device = engine_torch::open_device(wishes_.device);
    const engine_torch::Permissions permissions(or_empty(options.allow));
    const engine_torch::Archive archive(wishes_.path);
    wishes_.contents = archive.hash();
    source_.plain = engine_torch::load_module(archive, source_.device, permissions);
    source_.input_name = engine_torch::choose_input(source_.plain, wishes_.path, wanted);
    if (!wanted.empty() && wanted != source_.input_name)
        notices_.add("input=" + wanted + " is ignored: the model's input is called " +
                     source_.input_name);
    prepare();
}

// A frozen copy is made in any case: only there has the code that belongs to
// training gone, which would look like state.
void DnnTorchModel::prepare()
{
    const engine_torch::ThreadsScope one_thread(1);
    std::string reason;
    source_.frozen = engine_torch::freeze(source_.plain, reason);
    const auto traits = engine_torch::traits_of(source_.frozen ? *source_.frozen : source_.plain,
                                                source_.input_name);
    source_.writes_input = traits.writes_input;
    keeps_state_ = traits.keeps_state;
    if (keeps_state_)
        note_state();
    else if (!source_.frozen && wishes_.pinned != FormKind::saved)
        notices_.add("the model cannot be frozen and runs as it was saved: " + reason);
}

void DnnTorchModel::note_state()
{
    source_.writes_input = true; // what it keeps is not the caller's
    notices_.add("the model may remember earlier pictures: its runs are made one after another, "
                 "and are in order only with workers=1");
    const Precision precision = wishes_.precision.precision;
    if (precision != Precision::fp32)
        notices_.add(std::string("precision=") + engine_torch::name_of(precision) +
                     " is ignored: such a model runs as it was saved");
    if (wishes_.pinned && wishes_.pinned != FormKind::saved)
        notices_.add(std::string("optimize=") + engine_torch::name_of(*wishes_.pinned) +
                     " is ignored: such a model runs as it was saved");
}

DnnTorchTuning DnnTorchModel::tune(const DnnTorchShape &shape, double budget_seconds)
{
    check_shape(shape);
    if (keeps_state_)
        return {};
    try {
        return tune_whole(shape, budget_seconds);
    } catch (const std::exception &error) {
        if (shape.batch < 2 || !engine_torch::is_out_of_memory(error))
            throw;
    }
    // A session runs such a batch in parts, too.
    const DnnTorchShape half = {shape.batch / 2, shape.channels, shape.height, shape.width};
    DnnTorchTuning figures = tune(half, budget_seconds);
    figures.run_seconds *= static_cast<double>(shape.batch) / half.batch;
    return figures;
}

DnnTorchTuning DnnTorchModel::tune_whole(const DnnTorchShape &shape, double budget_seconds)
{
    try {
        const auto tuned = engine_torch::tune(source_, wishes_, shape, budget_seconds);
        use(tuned);
        engine_torch::trim_allocator();
        return tuned.figures;
    } catch (const std::exception &error) {
        engine_torch::trim_allocator();
        if (engine_torch::is_out_of_memory(error))
            throw;
        notices_.add("the model could not be tuned: " + engine_torch::words_of(error));
        return {};
    }
}

void DnnTorchModel::use(const engine_torch::Tuned &tuned)
{
    form_.reset();
    if (!is_plain(tuned.form))
        form_ = tuned.form;
    form_failed_ = false;
    form_text_ = tuned.form.text() + (tuned.is_measured ? " (measured)" : "");
    advice_ = tuned.advice;
    notices_.add(tuned.notice);
}

c10::IValue DnnTorchModel::forward(const at::Tensor &images)
{
    // Only state needs the lock.  LibTorch compiles each function under a lock
    // of its own and keeps nothing else between runs, so that even first runs
    // may meet.
    if (keeps_state_) {
        const std::lock_guard<std::mutex> lock(one_at_a_time_);
        return run_plain(images).deepcopy();
    }
    return form_ && !form_failed_ ? run_chosen(images) : run_plain(images);
}

// The plain module has the last word on a failure, and better words for it.
c10::IValue DnnTorchModel::run_chosen(const at::Tensor &images)
{
    try {
        return run_form(*form_, source_, images);
    } catch (const std::exception &error) {
        if (engine_torch::is_out_of_memory(error))
            throw;
    }
    c10::IValue result = run_plain(images);
    form_failed_ = true;
    notices_.add("the optimised model failed, so that the model runs as it was saved");
    return result;
}

c10::IValue DnnTorchModel::run_plain(const at::Tensor &images)
{
    return run_form({FormKind::saved, Precision::fp32, source_.plain}, source_, images);
}
