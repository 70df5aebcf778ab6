// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How a model runs for pictures of one shape.
#pragma once

#include "engines/torch/tuning/first_frames.h"
#include "model.h"

#include <atomic>
#include <optional>

// Never changes, except for what its first pictures show.  Every member function may be called from
// several threads at once.
struct DnnTorchPlan final {
public:
    // Chooses the variant of the model.  Throws a Failure if the shape is empty or memory runs out.
    DnnTorchPlan(DnnTorchModel &model, const engine_torch::Shape &shape,
                 const engine_torch::TuningParameters &parameters);

    // Runs forward() of a model that needs no copy, on the calling thread.  `turn` is the place of
    // the run to which the pictures belong.
    // A variant's results are compared with the plain module's before the first of them is
    // returned.  A run that waits for that throws a Failure soon after `stopped` was set.  `images`
    // is only read, but the result may share its memory.
    c10::IValue forward(const at::Tensor &images, const engine_torch::RunArguments &given,
                        const engine_torch::Turn &turn, const std::atomic<bool> &stopped) const;

    // Where runs register their turns.
    engine_torch::FirstFrames &first_frames() const noexcept { return first_frames_; }

    // Says how pictures are given and which tensor comes back.
    const engine_torch::Source &source() const noexcept { return *source_; }

    // Whether the pictures of a batch run one after the other.
    bool runs_one_by_one() const noexcept { return mixes_pictures_ || source_->runs_one_by_one(); }

    // Runs forward() on pictures that are not part of the stream.
    c10::IValue rehearse(const at::Tensor &images) const;

    DnnTorchModel &model() const noexcept { return model_; }
    const engine_torch::Shape &shape() const noexcept { return shape_; }
    DnnTorchPlanFacts facts() const noexcept
    {
        DnnTorchPlanFacts now = facts_;
        now.as_saved = variant_is_wrong_;
        now.rounds_to_16_bits = rounds_to_16_bits();
        return now;
    }
    // Looks up a key of plan_metadata().  Returns null for what is not known.
    const char *metadata(std::string_view key) const noexcept;

private:
    bool rounds_to_16_bits() const noexcept;
    DnnTorchPlanFacts tune(const engine_torch::Shape &shape,
                           const engine_torch::TuningParameters &parameters);
    DnnTorchPlanFacts tune_part(const engine_torch::Shape &whole, int32_t batch,
                                const engine_torch::TuningParameters &parameters);
    DnnTorchPlanFacts tune_whole(const engine_torch::Shape &shape,
                                 const engine_torch::TuningParameters &parameters);
    bool must_run_one_by_one();
    void use(const engine_torch::Tuned &tuned);
    c10::IValue run_chosen(const at::Tensor &images, const engine_torch::RunArguments &given,
                           const engine_torch::Turn &turn, const std::atomic<bool> &stopped) const;
    c10::IValue run_first(const at::Tensor &images, const engine_torch::RunArguments &given,
                          const engine_torch::Turn &turn, const std::atomic<bool> &stopped) const;
    c10::IValue compared(const std::optional<c10::IValue> &result, const at::Tensor &images,
                         const engine_torch::RunArguments &given,
                         engine_torch::FirstFrames::Run &run) const;
    bool agrees(const c10::IValue &plain, const c10::IValue &result) const;
    std::optional<c10::IValue> run_to_compare(bool has_result, const at::Tensor &images,
                                              const engine_torch::RunArguments &given) const;
    std::optional<c10::IValue> run_variant(const at::Tensor &images,
                                           const engine_torch::RunArguments &given) const;
    std::optional<c10::IValue> run_variant_quietly(const at::Tensor &images,
                                                   const engine_torch::RunArguments &given) const;
    void abandon_variant(const std::string &reason) const;
    void note_others() const;
    c10::IValue run_plain(const at::Tensor &images, const engine_torch::RunArguments &given) const;

    DnnTorchModel &model_;
    const std::shared_ptr<const engine_torch::Source> source_;
    const engine_torch::Shape shape_;
    std::shared_ptr<const engine_torch::Variant> variant_; // null: the model runs as it was saved
    bool mixes_pictures_ = false;                          // see batch_check.h
    std::string variant_text_ = "as saved", variant_details_, threaded_text_, hint_;
    const char *precision_ = "fp32", *optimize_ = "saved", *threaded_optimize_ = nullptr;
    DnnTorchPlanFacts facts_;
    mutable engine_torch::FirstFrames first_frames_;
    // The variant gave a wrong result for a first picture.  Other plans that share it find that out
    // by themselves: their results must not depend on this plan's progress.
    mutable std::atomic<bool> variant_is_wrong_{false};
    mutable std::atomic<bool> noted_others_{false};
};
