// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Replaces parts of a model by fused programs.
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

// What type fused programs compute in.
enum class FusedNumbers { fp32, bf16, int8 };

struct FusedRequest {
    FusedNumbers numbers = FusedNumbers::fp32;
    bool weights_on_each_node = false; // of memory
};

// Replaces the layers of a frozen module that are known by fused programs, which compute one frame
// at a time and on one thread.  Returns nullopt if there are none.  Input pictures have `channels`.
std::optional<torch::jit::Module> with_fused_programs(torch::jit::Module frozen,
                                                      const std::string &input_name,
                                                      int64_t channels,
                                                      const FusedRequest &request);

// How many convolutions the programs have, and how many of them are computed in int8.
struct Int8Layers {
    size_t all = 0, in_int8 = 0;
    // Set when a picture has samples beyond those that a program was calibrated with.  Such a
    // picture is computed in fp32.
    std::shared_ptr<std::atomic<bool>> exceeded_range;
};

struct Int8Goal {
    double decibel; // the PSNR to fp32 that programs must reach
    double peak;    // of the model's result
    size_t judged;  // how many pictures of the batch count, from the first on; 0: all
};

// Calibrates the programs of a fused copy in int8, each with its inputs while `run` runs the copy.
// Layers that lose the most stay in fp32 until all others reach the goal.  No program of the copy
// can run before.  May be called again, but not while the copy runs on another thread.  Throws what
// `run` throws.
Int8Layers calibrate_fused(const torch::jit::Module &copy, const Int8Goal &goal,
                           const std::function<void()> &run);

// Makes the programs of a fused copy in bf16 learn how large samples are, from their inputs while
// `run` runs the copy.  A picture with samples more than twice as large is computed without
// transforms, which would round the samples next to these as coarsely.  Call it before the copy is
// used, if at all.  Throws what `run` throws.
void learn_typical_samples(const torch::jit::Module &copy, const std::function<void()> &run);

} // namespace engine_torch
