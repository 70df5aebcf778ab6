// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A loaded model, which any number of sessions share.
#pragma once

#include "dnn_torch/engine.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

// Every member function may be called from several threads at once.
struct DnnTorchModel final {
public:
    // Throws a Failure or what LibTorch throws.
    explicit DnnTorchModel(const DnnTorchModelOptions &options);

    // Runs forward() on the calling thread.
    // `images` is only read, but the result may share its memory; it shares none
    // with what a later run changes.
    c10::IValue forward(const at::Tensor &images);

    const char *notice() const noexcept;
    const std::string &output_name() const noexcept { return output_name_; }
    int threads() const noexcept { return threads_; }

private:
    void prepare(bool optimize);
    void add_notice(const std::string &notice);
    c10::IValue call(const torch::jit::Module &module, const at::Tensor &images);
    c10::IValue call_optimized(const at::Tensor &images);

    std::string input_name_;
    std::string output_name_;
    int threads_;
    std::string notice_, notice_without_optimized_;
    torch::jit::Module plain_;
    std::optional<torch::jit::Module> optimized_;
    // Set for good by the first picture that only the plain module can do.
    std::atomic<bool> optimized_failed_{false};
    bool writes_input_ = true;
    bool keeps_state_ = true;
    std::mutex one_at_a_time_; // held around forward() of a model that keeps state
};
