// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Running a model without leaving a trace in it.
#pragma once

#include "traits.h"

#include <vector>

namespace engine_torch
{

// A copy of all that a module's runs may change.  It shares its code with the
// original, and its parameters too unless runs may write to them.  Runs of the
// two may not meet while one lives.  Throws where memory ran out.
class StateCopy
{
public:
    StateCopy(const torch::jit::Module &module, const Traits &traits);
    // Tensors in the code belong to both: they get back what they held.
    ~StateCopy();
    StateCopy(const StateCopy &) = delete;
    StateCopy &operator=(const StateCopy &) = delete;

    const torch::jit::Module &module() const noexcept { return copy_; }

private:
    struct Saved {
        at::Tensor constant, contents;
    };

    torch::jit::Module copy_;
    std::vector<Saved> saved_;
};

} // namespace engine_torch
