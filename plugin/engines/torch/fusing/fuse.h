// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Puts fused programs in the place of parts of a model.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Whether this build has fused programs.
bool can_fuse();

// What fused programs compute with.
enum class FusedNumbers { fp32, bf16, int8 };

struct FusedRequest {
    FusedNumbers numbers = FusedNumbers::fp32;
    bool weights_on_each_node = false; // of memory
};

// Returns a copy of a frozen module whose layers, as far as they are known, are computed by fused
// programs, one frame at a time and on one thread.  Returns nullopt if there are none.  Pictures
// that come in have `channels`.
std::optional<torch::jit::Module> fused_copy(const torch::jit::Module &frozen,
                                             const std::string &input_name, int64_t channels,
                                             const FusedRequest &request);

// How many convolutions the programs have, and how many of them are computed in int8.
struct Int8Layers {
    size_t all = 0, in_int8 = 0;
    // Set when a program met samples beyond those that it was calibrated with.  Such a picture is
    // computed in fp32.
    std::shared_ptr<std::atomic<bool>> met_others;
};

struct Int8Goal {
    double decibel; // the PSNR to fp32 that programs must leave
    double peak;    // of the model's result
    size_t judged;  // so many pictures of the batch count for it, the first ones; 0: all
};

// Calibrates the programs of a fused copy in int8: each of them with what it is given when `run`
// runs the copy.  Layers that lose the most stay in fp32 until all others reach the goal.  No
// program of the copy can run before.  May be called again.  Not safe to call while the copy runs
// on another thread.  Throws what `run` throws.
Int8Layers calibrate_fused(const torch::jit::Module &copy, const Int8Goal &goal,
                           const std::function<void()> &run);

// Has the programs of a fused copy in bf16 take as usual what each is given when `run` runs the
// copy. A picture with samples more than twice as large as those is computed without transforms,
// which would round those beside them as coarsely.  To be called before the copy is used, where at
// all. Throws what `run` throws.
void learn_usual_samples(const torch::jit::Module &copy, const std::function<void()> &run);

} // namespace engine_torch
