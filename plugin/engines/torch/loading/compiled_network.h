// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs the compiled code of an AOTInductor package.
#pragma once

#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/exported/compiled_package.h"

#include <memory>

namespace engine_torch
{

// dnn_torch::run_compiled(Tensor[] inputs, int network) -> Tensor[]: no file may use it, only code
// that was generated here.
constexpr const char *run_compiled = "dnn_torch::run_compiled";

// The opened code of a package.  Any thread.
class CompiledNetwork
{
public:
    // Opens the library, which runs code of the file.  `memory` is an empty memory file that is as
    // large as the package, or 0: then one is made.  Throws a Failure that names the file.
    static std::shared_ptr<const CompiledNetwork> open(const CompiledPackage &package, int memory);

    CompiledNetwork() = default;
    virtual ~CompiledNetwork() = default;
    CompiledNetwork(const CompiledNetwork &) = delete;
    CompiledNetwork &operator=(const CompiledNetwork &) = delete;

    // Code that calls the network with its inputs and returns its outputs.
    virtual Blueprint caller() const = 0;
};

} // namespace engine_torch
