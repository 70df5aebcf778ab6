// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The thread-local state that a model runs in.
#pragma once

#include "allocator.h"
#include "quiet.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace engine_torch
{

// While one lives, the calling thread runs a model and nothing else: freezing
// and inlining stop at the first level of calls in here.
//
// No gradients: NoGradGuard and not InferenceMode, whose tensors some operators
// refuse, and whose gain is lost beside a single convolution.
// No profiling executor: it would run a model's first pictures through another
// graph than the later ones, and so make a picture's bits depend on how many
// workers there are.  What it could still optimise was optimised at loading.
class RunScope
{
private:
    MemoryScope memory_;
    at::NoGradGuard no_gradients_;
    torch::jit::GraphOptimizerEnabledGuard no_profiling_{false};
    PrintableWarnings warnings_;
};

// Sets the threads of the calling thread's parallel regions; they are a
// property of the thread, so that every session's thread needs this.
void use_threads(int threads);

// The same until the end of its scope, on a thread that is not ours.
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

} // namespace engine_torch
