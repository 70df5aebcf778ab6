// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A loaded model, which any number of sessions share.
#pragma once

#include "dnn_torch/engine.h"
#include "engine_kit/notices.h"
#include "engines/torch/machine/allocator.h"
#include "engines/torch/program/forms.h"
#include "engines/torch/program/traits.h"
#include "engines/torch/tuning/first_frames.h"
#include "engines/torch/tuning/tuning.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

// Every member function but tune() may be called from several threads at once.
struct DnnTorchModel final {
public:
    // Throws a Failure or what LibTorch throws.
    explicit DnnTorchModel(const DnnTorchModelOptions &options);

    // Chooses the form that is run from now on.  Throws a Failure at a shape
    // that is none, and where memory ran out.
    DnnTorchTuning tune(const DnnTorchShape &shape, double budget_seconds);

    // Runs forward() on the calling thread.  `number` is the place of the first
    // picture in the stream.  The results of a form are compared with the plain
    // module's before the first of them is given out; whoever waits for that ends
    // soon after `stopped` was set, with a Failure.
    // `images` is only read, but the result may share its memory; it shares none
    // with what a later run changes.
    c10::IValue forward(const at::Tensor &images, int64_t number, const std::atomic<bool> &stopped);

    // The same of pictures that are none of the stream's: no later run is another
    // for it.  As the model was saved, or else in the form that was chosen.
    c10::IValue rehearse(const at::Tensor &images, bool as_saved);

    // Tells the user something that a run has shown.
    void note(const std::string &notice) { notices_.add(notice); }

    const char *notice() const noexcept { return notices_.text(); }
    const char *form() const noexcept { return form_text_.c_str(); }
    const char *advice() const noexcept { return advice_.c_str(); }
    const std::string &output_name() const noexcept { return output_name_; }
    const c10::Device &device() const noexcept { return source_.device; }
    bool keeps_state() const noexcept { return traits_.keeps_state; }
    const engine_torch::Source &source() const noexcept { return source_; }
    const engine_torch::Wishes &wishes() const noexcept { return wishes_; }

private:
    void prepare();
    void note_state();
    void note_random();
    void note_output();
    DnnTorchTuning tune_whole(const DnnTorchShape &shape, double budget_seconds);
    void use(const engine_torch::Tuned &tuned);
    c10::IValue run_chosen(const at::Tensor &images, int64_t number,
                           const std::atomic<bool> &stopped);
    c10::IValue run_first(const at::Tensor &images, int64_t number,
                          const std::atomic<bool> &stopped);
    c10::IValue compared(const std::optional<c10::IValue> &result, const at::Tensor &images,
                         int64_t number, engine_torch::FirstFrames::Run &run);
    bool agrees(const c10::IValue &plain, const c10::IValue &result) const;
    std::optional<c10::IValue> run_beside(bool has_result, const at::Tensor &images,
                                          int64_t number);
    std::optional<c10::IValue> run_in_form(const at::Tensor &images, int64_t number);
    std::optional<c10::IValue> run_in_form_quietly(const at::Tensor &images, int64_t number);
    void end_form(const std::string &reason);
    c10::IValue run_plain(const at::Tensor &images, int64_t number);

    // First, so that the memory of all tensors has gone before it.
    engine_torch::AllocatorUse allocator_;
    engine_torch::Wishes wishes_;
    std::string output_name_;
    engine_torch::Notices notices_;
    engine_torch::Source source_;
    std::optional<engine_torch::Form> form_; // nothing: as it was saved
    std::string form_text_ = "as saved", advice_;
    engine_torch::FirstFrames first_frames_;
    // Set by a first picture that the form did not do right.
    std::atomic<bool> form_failed_{false};
    engine_torch::Traits traits_;
    std::mutex one_at_a_time_; // held around forward() of a model that keeps state
};
