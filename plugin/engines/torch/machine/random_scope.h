// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Random numbers that hang on the frame alone.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace engine_torch
{

// While one lives, LibTorch's own generators are seeded with that number; then
// they go on where they were, for they are the whole program's.  Operators take
// no others, so that one scope waits for the end of another.  A program that draws
// from them on another thread meanwhile disturbs the model, and the model it.
class RandomScope
{
public:
    RandomScope(int64_t seed, const c10::Device &device);
    ~RandomScope();
    RandomScope(const RandomScope &) = delete;
    RandomScope &operator=(const RandomScope &) = delete;

private:
    struct Saved {
        at::Generator generator;
        at::Tensor state;
    };

    void seed(const c10::Device &device, uint64_t seed);

    const std::unique_lock<std::mutex> one_at_a_time_;
    std::vector<Saved> saved_;
};

} // namespace engine_torch
