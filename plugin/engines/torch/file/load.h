// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Opening a model file with LibTorch.
#pragma once

#include "archive.h"
#include "operators.h"

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// The module, in evaluation mode, with all its functions looked through.
// Throws a Failure that names the file.
torch::jit::Module load_module(const Archive &archive, const c10::Device &device,
                               const Permissions &permissions);

// The module with its values looked through, and with operators that load_module() refuses.  Only
// where runs_while_loading() is false, for it runs such code.
torch::jit::Module load_any_module(const Archive &archive, const c10::Device &device);

// The arguments of forward() after the module itself.
std::vector<c10::Argument> arguments_of(const torch::jit::Module &module);

// Whether forward() returns a tensor by itself, by what its code declares.
bool returns_one_tensor(const torch::jit::Module &module);

// The argument of forward() that the images go to: the named one, else the
// first.  Throws a Failure unless the others have defaults.
std::string choose_input(const torch::jit::Module &module, const std::string &path,
                         const std::string &wanted);

} // namespace engine_torch
