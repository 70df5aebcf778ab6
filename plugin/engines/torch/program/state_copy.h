// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a model without changing it.
#pragma once

#include "traits.h"

#include <vector>

namespace engine_torch
{

// A copy of everything that a module's runs may change.  It shares the code with the original, and
// also the parameters unless runs may write to them.  Throws if memory runs out.
class StateCopy
{
public:
    // No other copy of the module may be in use meanwhile.
    StateCopy(const torch::jit::Module &module, const Traits &traits);
    StateCopy(const StateCopy &) = delete;
    StateCopy &operator=(const StateCopy &) = delete;

    // Lets the module of this copy run.  All copies share the tensors in the module's code, which
    // hold the values of this copy while a Use exists; so only one may exist at a time.
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

// Returns a copy that shares no memory with the value.  Tensors that share memory also do so in the
// copy.
c10::IValue copy_of(const c10::IValue &value);

} // namespace engine_torch
