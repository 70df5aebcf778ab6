// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The thread-local settings for running a model.
#pragma once

#include "allocator.h"
#include "quiet.h"

#include <c10/core/Device.h>
#include <c10/core/GradMode.h>
#include <mutex>
#include <optional>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace engine_torch
{

// Sets the number of threads of the calling thread's parallel regions.  Each thread has its own
// setting, so every session's thread needs this.
void use_threads(int threads);

// Sets the number of threads until the end of its scope, for a thread that is not ours.
class ThreadsScope
{
public:
    explicit ThreadsScope(int threads);
    ~ThreadsScope();
    ThreadsScope(const ThreadsScope &) = delete;
    ThreadsScope &operator=(const ThreadsScope &) = delete;

private:
    int before_;
};

// While an object lives, the calling thread runs a model and nothing else.  Do not freeze or inline
// meanwhile: both would stop at the first level of calls.
//
// No gradients: NoGradGuard is used instead of InferenceMode, whose tensors some operators refuse
// and whose gain is negligible next to a single convolution.
//
// No profiling executor: it would run a model's first pictures through another graph than later
// ones, so the bits of a picture would depend on the number of workers.  Loading has already done
// the optimisations that it could do.
//
// Runs on the processor wait for one another and use one thread if blas_is_for_one_thread().
class RunScope
{
public:
    explicit RunScope(const c10::Device &device);

private:
    std::unique_lock<std::mutex> alone_;
    std::optional<ThreadsScope> one_thread_;
    MemoryScope memory_;
    at::NoGradGuard no_gradients_;
    torch::jit::GraphOptimizerEnabledGuard no_profiling_{false};
    PrintableWarnings warnings_;
};

} // namespace engine_torch
