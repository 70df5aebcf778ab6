// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "model.h"

#include "engines/torch/failure.h"
#include "engines/torch/file/load.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/machine/processor_quirks.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/machine/run_scope.h"
#include "engines/torch/program/state_copy.h"
#include "engines/torch/tuning/trial.h"

#include <ATen/TensorOperators.h>

namespace
{

using engine_torch::Failure;
using engine_torch::FirstFrames;
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

// Hardly any difference between its samples, as at a film's black beginning.
constexpr double flat_range = 1.0 / 64;

bool is_flat(const at::Tensor &images)
{
    return (images.max() - images.min()).item<double>() < flat_range;
}

FirstFrames::Kind kind_of(const at::Tensor &images, bool flat)
{
    const auto extent = [&](int64_t dimension) {
        return static_cast<int32_t>(images.size(dimension));
    };
    return FirstFrames::kind_of({extent(0), extent(1), extent(2), extent(3)}, flat);
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
    note_output();
    source_.own_tolerance = engine_torch::tolerance_of(source_.plain);
    prepare();
}

// Command lines of dnn_processing have a name there in any case.
void DnnTorchModel::note_output()
{
    if (output_name_.empty() || !engine_torch::returns_one_tensor(source_.plain))
        return;
    notices_.add("output=" + output_name_ +
                 " is ignored: the model returns one tensor, which has no name");
}

void DnnTorchModel::prepare()
{
    const engine_torch::ThreadsScope one_thread(1);
    traits_ = engine_torch::traits_of(source_.plain, source_.input_name);
    source_.writes_input = traits_.writes_input;
    source_.branches_on_data = traits_.branches_on_data;
    source_.draws_random_numbers = !traits_.random.empty();
    note_random();
    if (traits_.keeps_state)
        return note_state();
    std::string reason;
    source_.frozen = engine_torch::freeze(source_, reason);
    if (!source_.frozen && wishes_.pinned != FormKind::saved)
        notices_.add("the model cannot be frozen and runs as it was saved: " + reason);
}

void DnnTorchModel::note_random()
{
    if (!traits_.training.empty())
        notices_.add("the model was exported in training mode (" + traits_.training.front() +
                     "), which changes its pictures: call model.eval() before the export");
    else if (source_.draws_random_numbers)
        notices_.add("the model draws random numbers (" + traits_.random.front() +
                     "): each frame has its own, the same in every run");
}

void DnnTorchModel::note_state()
{
    source_.writes_input = true; // what it keeps is not the caller's
    notices_.add(
        "the model remembers earlier pictures: the frames reach it in order, one at a time");
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
    if (traits_.keeps_state) {
        DnnTorchTuning tuning = {};
        tuning.in_order = 1;
        return tuning;
    }
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
    first_frames_.forget();
    form_text_ = tuned.form.text() + (tuned.is_measured ? " (measured)" : "");
    advice_ = tuned.advice;
    notices_.add(tuned.notice);
}

c10::IValue DnnTorchModel::forward(const at::Tensor &images, int64_t number,
                                   const std::atomic<bool> &stopped)
{
    // Only state needs the lock.  LibTorch compiles each function under a lock
    // of its own and keeps nothing else between runs, so that even first runs
    // may meet.
    if (traits_.keeps_state) {
        const std::lock_guard<std::mutex> lock(one_at_a_time_);
        return run_plain(images, number).deepcopy();
    }
    return form_ && !form_failed_ ? run_chosen(images, number, stopped) : run_plain(images, number);
}

c10::IValue DnnTorchModel::rehearse(const at::Tensor &images, bool as_saved)
{
    if (!traits_.keeps_state)
        return form_ && !as_saved ? run_form(*form_, source_, images) : run_plain(images, 0);
    const std::lock_guard<std::mutex> lock(one_at_a_time_);
    const engine_torch::StateCopy copy(source_.plain, traits_);
    return run_form({FormKind::saved, Precision::fp32, copy.module()}, source_, images).deepcopy();
}

c10::IValue DnnTorchModel::run_chosen(const at::Tensor &images, int64_t number,
                                      const std::atomic<bool> &stopped)
{
    if (!first_frames_.are_good(kind_of(images, false)))
        return run_first(images, number, stopped);
    if (const auto result = run_in_form(images, number))
        return *result;
    notices_.add("the optimised model fails with some frames, which run as the model was saved");
    return run_plain(images, number);
}

// The form is run before its verdict is there, so that no worker rests meanwhile.
c10::IValue DnnTorchModel::run_first(const at::Tensor &images, int64_t number,
                                     const std::atomic<bool> &stopped)
{
    FirstFrames::Run run(first_frames_, kind_of(images, is_flat(images)), number);
    const auto result = run_in_form_quietly(images, number);
    switch (run.verdict(stopped)) {
    case FirstFrames::Verdict::good:
        return result ? *result : run_plain(images, number);
    case FirstFrames::Verdict::bad:
        return run_plain(images, number);
    case FirstFrames::Verdict::to_compare:
        return compared(result, images, number, run);
    default:
        throw Failure(DNN_TORCH_STOPPED, "the run was stopped");
    }
}

// The plain module has the last word on a failure, and better words for it.
c10::IValue DnnTorchModel::compared(const std::optional<c10::IValue> &result,
                                    const at::Tensor &images, int64_t number, FirstFrames::Run &run)
{
    const auto plain = run_beside(result.has_value(), images, number);
    if (!plain) {
        run.decide(true);
        return *result;
    }
    engine_torch::trim_allocator(); // the plain module needs blocks of other sizes
    if (result && agrees(*plain, *result)) {
        run.decide(true);
        return *result;
    }
    form_failed_ = true;
    run.decide(false);
    end_form(result ? "gave another picture than the model as it was saved" : "failed");
    return *plain;
}

// What cannot be compared does not agree.
bool DnnTorchModel::agrees(const c10::IValue &plain, const c10::IValue &result) const
{
    try {
        return engine_torch::is_close(plain, result, form_->precision, source_.own_tolerance);
    } catch (const std::exception &error) {
        if (engine_torch::is_out_of_memory(error))
            throw;
        return false;
    }
}

// As it was saved.  Nothing where memory suffices for the form's result alone, and
// where a smaller batch would be no way out.
std::optional<c10::IValue> DnnTorchModel::run_beside(bool has_result, const at::Tensor &images,
                                                     int64_t number)
{
    try {
        return run_plain(images, number);
    } catch (const std::exception &error) {
        if (!has_result || images.size(0) > 1 || !engine_torch::is_out_of_memory(error))
            throw;
    }
    notices_.add("the optimised model could not be compared with the model as it was saved, for "
                 "which memory does not suffice");
    return std::nullopt;
}

// Nothing where the form fails.
std::optional<c10::IValue> DnnTorchModel::run_in_form(const at::Tensor &images, int64_t number)
{
    try {
        return run_form(*form_, source_, images, number);
    } catch (const std::exception &error) {
        if (engine_torch::is_out_of_memory(error))
            throw;
    }
    return std::nullopt;
}

// The plain module tells of the same things, and the form may not be used at all.
std::optional<c10::IValue> DnnTorchModel::run_in_form_quietly(const at::Tensor &images,
                                                              int64_t number)
{
    const engine_torch::Quiet quiet;
    return run_in_form(images, number);
}

void DnnTorchModel::end_form(const std::string &reason)
{
    engine_torch::remember_as_bad(*form_, source_, wishes_);
    notices_.add("the optimised model (" + form_->text() + ") " + reason +
                 ", so that the model runs as it was saved; later runs do without that form");
}

c10::IValue DnnTorchModel::run_plain(const at::Tensor &images, int64_t number)
{
    return run_form({FormKind::saved, Precision::fp32, source_.plain}, source_, images, number);
}
