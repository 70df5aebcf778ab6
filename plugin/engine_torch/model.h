// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A loaded model, which any number of sessions share.
#pragma once

#include "allocator.h"
#include "dnn_torch/engine.h"
#include "forms.h"
#include "notices.h"
#include "tuning.h"

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

    // Runs forward() on the calling thread.
    // `images` is only read, but the result may share its memory; it shares none
    // with what a later run changes.
    c10::IValue forward(const at::Tensor &images);

    // Tells the user something that a run has shown.
    void note(const std::string &notice) { notices_.add(notice); }

    const char *notice() const noexcept { return notices_.text(); }
    const char *form() const noexcept { return form_text_.c_str(); }
    const char *advice() const noexcept { return advice_.c_str(); }
    const std::string &output_name() const noexcept { return output_name_; }
    const c10::Device &device() const noexcept { return source_.device; }
    bool keeps_state() const noexcept { return keeps_state_; }

private:
    void prepare();
    void note_state();
    DnnTorchTuning tune_whole(const DnnTorchShape &shape, double budget_seconds);
    void use(const engine_torch::Tuned &tuned);
    c10::IValue run_chosen(const at::Tensor &images);
    c10::IValue run_plain(const at::Tensor &images);

    // First, so that the memory of all tensors has gone before it.
    engine_torch::AllocatorUse allocator_;
    engine_torch::Wishes wishes_;
    std::string output_name_;
    engine_torch::Notices notices_;
    engine_torch::Source source_;
    std::optional<engine_torch::Form> form_; // nothing: as it was saved
    std::string form_text_ = "as saved", advice_;
    // Set by the first picture that only the plain module can do.
    std::atomic<bool> form_failed_{false};
    bool keeps_state_ = true;
    std::mutex one_at_a_time_; // held around forward() of a model that keeps state
};
