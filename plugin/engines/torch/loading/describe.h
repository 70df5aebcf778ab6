// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model file says about itself.
#pragma once

#include "engines/torch/architectures/architecture.h"
#include "engines/torch/checkpoint/checkpoint.h"
#include "engines/torch/exported/compiled_package.h"
#include "engines/torch/exported/export_network.h"
#include "engines/torch/file/archive.h"
#include "engines/torch/onnx/onnx_network.h"

#include <map>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// A tensor that forward() takes or returns.  The type is written as TorchScript writes it.
struct NamedType {
    std::string name, type;
};

struct Description {
    std::vector<NamedType> inputs, outputs;
    std::map<std::string, std::string, std::less<>> facts; // by the keys of model_metadata()
};

// Describes a file that may be refused.  Loads it on the CPU, or only reads its code if loading
// would run something that is not allowed.  Throws a Failure that names the file.
Description inspect(const Archive &archive);

// Describes a model that was accepted.
Description describe(const Archive &archive, const torch::jit::Module &module);
Description describe(const Checkpoint &checkpoint, const Recognised &recognised,
                     const torch::jit::Module &module);
Description describe(const OnnxFile &file, const torch::jit::Module &module);
Description describe(const ExportFile &file, const torch::jit::Module &module);
Description describe(const CompiledPackage &package);

} // namespace engine_torch
