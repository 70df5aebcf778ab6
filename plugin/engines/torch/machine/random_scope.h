// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Random numbers that depend on the frame alone.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace engine_torch
{

// While an object lives, LibTorch's own generators are seeded with the given number.  Afterwards
// they get back their old state, because the whole program uses them.  Operators use no other
// generators, so a scope waits until another one has ended.  If another thread of the program draws
// from them meanwhile, it disturbs the model and the model disturbs it.
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
