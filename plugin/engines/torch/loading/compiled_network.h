// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs the compiled code of an AOTInductor package.
#pragma once

#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/exported/compiled_package.h"

#include <memory>

namespace engine_torch
{

// The operator that runs the code: no file may use it, only code that was generated here.
constexpr const char *run_compiled = "dnn_torch::run_compiled";

struct CompiledNetwork {
    std::shared_ptr<const void> code; // opened; outlives what is made of the network
    Blueprint network;                // calls it with its inputs and returns its outputs
};

// Opens the library, which runs code of the file.  `memory` is an empty memory file that is as
// large as the package, or 0: then one is made.  Throws a Failure that names the file.
CompiledNetwork open_compiled(const CompiledPackage &package, int memory);

} // namespace engine_torch
