// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A session runs a plan.
#pragma once

#include "all_tensors.h"
#include "plan.h"

#include <c10/core/Stream.h>

#include <vector>

// Belongs to one thread at a time, except for stop().
struct DnnTorchSession final {
public:
    // Throws a Failure if `threads` is below 1.
    DnnTorchSession(const DnnTorchPlan &plan, int32_t threads);

    // Does now what only a first run has to do, if it can.
    void warm() noexcept;

    // Returns the picture alone, or all tensors with results=tensors.  The views hold until the
    // next run, a reset or the session's end.  `request` has the type of elements that the caller
    // would like.  Throws a Failure or what LibTorch throws.  When it returns or throws,
    // the device no longer uses the memory of `input`.  `values` are extra inputs of this run.
    std::vector<DnnTorchTensor> run(const DnnTorchTensor &input,
                                    const engine_torch::NamedTensors &values,
                                    const DnnTorchTensor &request, DnnTorchRun &run);

    // Forgets earlier runs.
    void reset();

    // Returns memory that the device reads without a further copy, or null on the CPU.
    void *memory(size_t bytes);

    const engine_torch::Source &source() const noexcept { return plan_.source(); }

    // LibTorch cannot be interrupted: the current run computes to its end.
    void stop() noexcept { stopped_ = true; }

private:
    void check_stopped() const;
    at::Tensor run_in_parts(const at::Tensor &images, int64_t number,
                            const engine_torch::Turn &turn);
    at::Tensor run_or_halve(const at::Tensor &images, int64_t number,
                            const engine_torch::Turn &turn);
    at::Tensor run_segment(const at::Tensor &images, int64_t number,
                           const engine_torch::Turn &turn);
    at::Tensor run_once(const at::Tensor &images, int64_t number, const engine_torch::Turn &turn);
    void wait_after_failure() const noexcept;
    void let_others_begin(const DnnTorchRun &run) const;
    c10::IValue forward(const at::Tensor &images, int64_t number, const engine_torch::Turn &turn);
    engine_torch::NamedTensors values_of(int64_t number, int64_t count) const;
    c10::IValue forward_with(const at::Tensor &images, const engine_torch::RunArguments &given,
                             const engine_torch::Turn &turn);
    std::vector<DnnTorchTensor> run_on_stream(const DnnTorchTensor &input,
                                              const DnnTorchTensor &request, DnnTorchRun &run);
    std::vector<DnnTorchTensor> run_for_all(const at::Tensor &images, const at::Tensor &elements,
                                            const DnnTorchRun &run);
    c10::IValue run_whole_batch(const at::Tensor &images, const DnnTorchRun &run);
    DnnTorchTensor run_for_picture(const at::Tensor &images, const at::Tensor &elements,
                                   const DnnTorchTensor &request, DnnTorchRun &run);
    at::Tensor to_caller(const at::Tensor &picture, const at::Tensor &elements,
                         const DnnTorchTensor &request);
    at::Tensor brought_back(const at::Tensor &picture);

    const DnnTorchPlan &plan_;
    const engine_torch::FirstFrames::Membership membership_;
    DnnTorchModel &model_;
    const int32_t threads_;
    const std::optional<c10::Stream> stream_;        // nullopt on the CPU
    std::unique_ptr<engine_torch::StateCopy> state_; // null if the model needs no copy
    engine_torch::NamedTensors states_;              // what the last run returned for the next
    engine_torch::NamedTensors values_;              // of this run
    int64_t first_number_ = 0, batch_ = 0;           // of its pictures
    std::atomic<bool> stopped_{false};
    int64_t most_at_once_; // how many pictures run at once; 0: as many as there are
    at::Tensor memory_;    // what memory() returned last
    at::Tensor staging_;   // results of a device arrive here
    at::Tensor output_;    // the last view shows this
    std::vector<engine_torch::HandedTensor> tensors_; // or the last views show these
    bool had_nan_ = false;                            // the last integer output had a NaN
};
