// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Running a model without leaving a trace in it.
#pragma once

#include "traits.h"

#include <vector>

namespace engine_torch
{

// A copy of all that a module's runs may change.  It shares its code with the
// original, and its parameters too unless runs may write to them.  Throws if memory
// runs out.
class StateCopy
{
public:
    // No other copy of the module is in use meanwhile.
    StateCopy(const torch::jit::Module &module, const Traits &traits);
    StateCopy(const StateCopy &) = delete;
    StateCopy &operator=(const StateCopy &) = delete;

    // Lets the module of this copy run.  Tensors in the code belong to all copies of a
    // module: while this lives they hold the values of this one, so only one may live.
    class Use
    {
    public:
        explicit Use(StateCopy &copy);
        ~Use();
        Use(const Use &) = delete;
        Use &operator=(const Use &) = delete;

        const torch::jit::Module &module() const noexcept { return copy_.module_; }

    private:
        StateCopy &copy_;
    };

private:
    struct Constant {
        at::Tensor in_code;
        at::Tensor original, own; // values
    };

    torch::jit::Module module_;
    std::vector<Constant> constants_;
};

} // namespace engine_torch
