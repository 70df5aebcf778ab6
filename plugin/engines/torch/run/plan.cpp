// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "plan.h"

#include "batch_check.h"
#include "binding_choice.h"
#include "engine_kit/sized.h"
#include "engine_kit/text.h"
#include "engines/torch/failure.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/tuning/trial.h"

#include <ATen/TensorOperators.h>
#include <cmath>

namespace
{

using engine_torch::Failure;
using engine_torch::FirstFrames;
using engine_torch::Precision;
using engine_torch::RunArguments;
using engine_torch::Shape;
using engine_torch::TuningParameters;
using engine_torch::Turn;
using engine_torch::Variant;
using engine_torch::VariantKind;

// Pictures with a smaller range of samples are flat, as a film's black beginning is.
constexpr double flat_range = 1.0 / 64;

// Not finite if one of the samples is not, unlike range_of().
double spread_of(const at::Tensor &images)
{
    return (images.max() - images.min()).item<double>();
}

// Takes the range from the model's input if the caller has left it at the default.
Shape with_input_range(Shape shape, const engine_torch::Binding &binding)
{
    if (shape.low == 0 && shape.high == 1)
        shape.high = static_cast<float>(binding.white());
    return shape;
}

FirstFrames::Kind kind_of(const at::Tensor &images, bool flat, const RunArguments &given)
{
    const auto extent = [&](int64_t dimension) {
        return static_cast<int32_t>(images.size(dimension));
    };
    return FirstFrames::kind_of({extent(0), extent(1), extent(2), extent(3)}, flat,
                                !given.states.empty());
}

bool is_plain(const Variant &variant)
{
    return variant.kind == VariantKind::saved && variant.precision == Precision::fp32;
}

} // namespace

DnnTorchPlan::DnnTorchPlan(DnnTorchModel &model, const Shape &shape,
                           const TuningParameters &parameters)
    : model_((model.expect_runnable(), model)),
      source_(engine_torch::source_with_binding(model, shape)),
      shape_(with_input_range(shape, source_->binding)), facts_(tune(shape_, parameters))
{
}

const char *DnnTorchPlan::metadata(std::string_view key) const noexcept
{
    if (key == "variant")
        return variant_text_.c_str();
    if (key == "variant_precision")
        return precision_;
    if (key == "variant_optimize")
        return optimize_;
    if (key == "variant_details")
        return variant_details_.c_str();
    if (key == "threaded_variant")
        return threaded_text_.c_str();
    if (key == "threaded_optimize")
        return threaded_optimize_;
    return key == "hint" ? hint_.c_str() : nullptr;
}

DnnTorchPlanFacts DnnTorchPlan::tune(const Shape &shape, const TuningParameters &parameters)
{
    if (shape.is_empty())
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the shape to plan for is empty: all its extents must be at least 1");
    if (model_.keeps_state()) {
        auto facts = engine_kit::sized<DnnTorchPlanFacts>();
        facts.in_order = true;
        facts.alone = source_->runs_alone();
        return facts;
    }
    if (shape.batch > 1 && source_->takes_one() && source_->returns_all())
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the model takes one picture at a time, and its tensors cannot be put "
                      "together; use batch_size=1");
    if (shape.batch > 1 && must_run_one_by_one())
        return tune_part(shape, 1, parameters);
    try {
        return tune_whole(shape, parameters);
    } catch (const std::exception &error) {
        if (shape.batch < 2 || source_->returns_all() || source_->takes_segments() ||
            !engine_torch::is_out_of_memory(error))
            throw;
    }
    return tune_part(shape, shape.batch / 2, parameters);
}

bool DnnTorchPlan::must_run_one_by_one()
{
    if (source_->takes_segments())
        return false;
    if (!source_->runs_one_by_one() && !source_->returns_all() && source_->output &&
        engine_torch::mixes_pictures(*source_, shape_)) {
        mixes_pictures_ = true;
        model_.note("the model mixes the pictures of a batch, or takes one at a time: they run one "
                    "by one; batch_size=1 is the same");
    }
    return runs_one_by_one();
}

// Tunes for parts of the batch, in which a session runs it.
DnnTorchPlanFacts DnnTorchPlan::tune_part(const Shape &whole, int32_t batch,
                                          const TuningParameters &parameters)
{
    Shape part = whole;
    part.batch = batch;
    DnnTorchPlanFacts facts = tune(part, parameters);
    const double parts = static_cast<double>(whole.batch) / part.batch;
    facts.run_seconds *= parts;
    facts.run_operations *= parts;
    return facts;
}

DnnTorchPlanFacts DnnTorchPlan::tune_whole(const Shape &shape, const TuningParameters &parameters)
{
    try {
        const auto tuned = engine_torch::tune(*source_, model_.requested(), shape, parameters);
        use(tuned);
        if (source_->weights_on_each_node && !parameters.as_saved &&
            tuned.variant.kind != VariantKind::fused)
            model_.note("weights=node is for fused programs; " + tuned.variant.text() +
                        " has one copy of the weights");
        engine_torch::trim_allocator();
        DnnTorchPlanFacts facts = tuned.figures;
        facts.alone = source_->runs_alone();
        facts.in_order = source_->has_states();
        return facts;
    } catch (const std::exception &error) {
        engine_torch::trim_allocator();
        if (engine_torch::is_out_of_memory(error))
            throw;
        model_.note("the model could not be tuned: " + engine_torch::words_of(error));
        auto facts = engine_kit::sized<DnnTorchPlanFacts>();
        facts.in_order = source_->has_states();
        return facts;
    }
}

void DnnTorchPlan::use(const engine_torch::Tuned &tuned)
{
    if (!is_plain(tuned.variant))
        variant_ = model_.share(tuned.variant);
    if (tuned.variant.exceeded_range) // trials are no frames
        *tuned.variant.exceeded_range = false;
    variant_details_ = tuned.variant.about;
    variant_text_ = tuned.variant.text() +
                    (variant_details_.empty() ? "" : ", " + variant_details_) +
                    (tuned.is_measured ? " (measured)" : "");
    precision_ = name_of(tuned.variant.precision);
    optimize_ = name_of(tuned.variant.kind);
    threaded_text_ = tuned.variant.threaded_text();
    threaded_optimize_ = tuned.variant.threaded ? name_of(tuned.variant.threaded->kind) : nullptr;
    hint_ = engine_kit::printable(tuned.hint);
    model_.note(tuned.notice);
}

// An int8 variant computes in fp32 where that is too coarse.
bool DnnTorchPlan::rounds_to_16_bits() const noexcept
{
    if (variant_ && variant_->precision != Precision::fp32)
        return true;
    const auto &output = source_->output;
    return output && (output->type == at::kHalf || output->type == at::kBFloat16);
}

// Needs no lock: LibTorch compiles each function under a lock of its own and keeps nothing else
// between runs.  So even first runs may overlap.
c10::IValue DnnTorchPlan::forward(const at::Tensor &images, const RunArguments &given,
                                  const Turn &turn, const std::atomic<bool> &stopped) const
{
    if (variant_ && !variant_is_wrong_)
        return run_chosen(images, given, turn, stopped);
    if (variant_)
        first_frames_.begin(turn);
    return run_plain(images, given);
}

// Grey pictures beyond the calibrated range cause no notice about frames.
c10::IValue DnnTorchPlan::rehearse(const at::Tensor &images) const
{
    if (!variant_)
        return model_.rehearse(*source_, images);
    const bool has_met = variant_->exceeded_range && *variant_->exceeded_range;
    c10::IValue result = run_as(*variant_, *source_, images);
    if (variant_->exceeded_range && !has_met)
        *variant_->exceeded_range = false;
    return result;
}

c10::IValue DnnTorchPlan::run_chosen(const at::Tensor &images, const RunArguments &given,
                                     const Turn &turn, const std::atomic<bool> &stopped) const
{
    if (!first_frames_.begin_good(kind_of(images, false, given), turn))
        return run_first(images, given, turn, stopped);
    if (const auto result = run_variant(images, given))
        return *result;
    model_.note("the optimised model fails with some frames, which run as the model was saved");
    return run_plain(images, given);
}

// Runs the variant before its verdict is known, so that no worker is idle meanwhile.
c10::IValue DnnTorchPlan::run_first(const at::Tensor &images, const RunArguments &given,
                                    const Turn &turn, const std::atomic<bool> &stopped) const
{
    const double spread = spread_of(images);
    const bool is_flat = spread < flat_range * shape_.range();
    FirstFrames::Run run(first_frames_, kind_of(images, is_flat, given), turn);
    if (!std::isfinite(spread)) // says nothing of others; variants may refuse it
        return run_plain(images, given);
    const auto result = run_variant_quietly(images, given);
    switch (run.verdict(stopped)) {
    case FirstFrames::Verdict::good:
        return result ? *result : run_plain(images, given);
    case FirstFrames::Verdict::bad:
        return run_plain(images, given);
    case FirstFrames::Verdict::to_compare:
        return compared(result, images, given, run);
    default:
        throw Failure(DNN_TORCH_STOPPED, "the run was stopped");
    }
}

// The plain module decides: its result replaces a wrong one, and its error message is better.
c10::IValue DnnTorchPlan::compared(const std::optional<c10::IValue> &result,
                                   const at::Tensor &images, const RunArguments &given,
                                   FirstFrames::Run &run) const
{
    const auto plain = run_to_compare(result.has_value(), images, given);
    if (!plain) {
        run.decide(true);
        return *result;
    }
    engine_torch::trim_allocator(); // the plain module needs blocks of other sizes
    if (result && agrees(*plain, *result)) {
        run.decide(true);
        return *result;
    }
    variant_is_wrong_ = true;
    run.decide(false);
    abandon_variant(result ? source_->returns_all()
                                 ? "gave other tensors than the model as it was saved"
                                 : "gave another picture than the model as it was saved"
                           : "failed");
    return *plain;
}

// Results that cannot be compared do not agree.
bool DnnTorchPlan::agrees(const c10::IValue &plain, const c10::IValue &result) const
{
    try {
        return engine_torch::is_close(plain, result, *variant_, *source_);
    } catch (const std::exception &error) {
        if (engine_torch::is_out_of_memory(error))
            throw;
        return false;
    }
}

// Runs the model as it was saved.  Returns nullopt if memory suffices for the variant's result
// alone and a smaller batch would not help.
std::optional<c10::IValue> DnnTorchPlan::run_to_compare(bool has_result, const at::Tensor &images,
                                                        const RunArguments &given) const
{
    try {
        return run_plain(images, given);
    } catch (const std::exception &error) {
        if (!has_result || images.size(0) > 1 || !engine_torch::is_out_of_memory(error))
            throw;
    }
    model_.note("the optimised model could not be compared with the model as it was saved, for "
                "which memory does not suffice");
    return std::nullopt;
}

// Returns nullopt if the variant fails.
std::optional<c10::IValue> DnnTorchPlan::run_variant(const at::Tensor &images,
                                                     const RunArguments &given) const
{
    try {
        c10::IValue result = run_as(*variant_, *source_, images, given);
        note_others();
        return result;
    } catch (const std::exception &error) {
        if (engine_torch::is_out_of_memory(error))
            throw;
    }
    return std::nullopt;
}

// Reports it once: all frames of a film may be such.
void DnnTorchPlan::note_others() const
{
    const auto &exceeded_range = variant_->exceeded_range;
    if (exceeded_range && *exceeded_range && !noted_others_.exchange(true))
        model_.note(
            "some frames have samples beyond those that int8 was calibrated for; what meets "
            "them is computed in fp32");
}

// Drops warnings: the plain module gives the same ones, and the variant may not be used at all.
std::optional<c10::IValue> DnnTorchPlan::run_variant_quietly(const at::Tensor &images,
                                                             const RunArguments &given) const
{
    const engine_torch::Quiet quiet;
    return run_variant(images, given);
}

// A wrong result in int8 says little about other clips, so it is not recorded.
void DnnTorchPlan::abandon_variant(const std::string &reason) const
{
    const bool holds_for_all_clips = variant_->precision != Precision::int8;
    if (holds_for_all_clips)
        engine_torch::remember_as_bad(*variant_, *source_, model_.requested());
    model_.note("the optimised model (" + variant_->text() + ") " + reason +
                ", so that the model runs as it was saved" +
                (holds_for_all_clips ? "; later runs do without that variant" : ""));
}

c10::IValue DnnTorchPlan::run_plain(const at::Tensor &images, const RunArguments &given) const
{
    return model_.run_as_saved(*source_, images, given);
}
