// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model file tells of itself.
#pragma once

#include "archive.h"

#include <map>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// A tensor that forward() takes or returns, in the words of TorchScript.
struct NamedType {
    std::string name, type;
};

struct Description {
    std::vector<NamedType> inputs, outputs;
    std::map<std::string, std::string, std::less<>> facts; // by the keys of model_metadata()
};

// Looks at a file that may be refused: loads it on the CPU, or no more than its code
// where loading would run something that is denied.  Throws a Failure that names the file.
Description inspect(const Archive &archive);

// The same of a model that was accepted.
Description describe(const Archive &archive, const torch::jit::Module &module);

} // namespace engine_torch
