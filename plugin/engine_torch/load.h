// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Opening a model file with LibTorch.
#pragma once

#include "dnn_torch/engine.h"

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Throws a Failure where the options make no sense for any model.
void check_options(const DnnTorchModelOptions &options);

// The module, in evaluation mode, with all its functions looked through.
// Throws a Failure that names the file.
torch::jit::Module load_module(const std::string &path, const c10::Device &device);

// The argument of forward() that the images go to: the named one, else the
// first.  Throws a Failure unless the others have defaults.
std::string choose_input(const torch::jit::Module &module, const std::string &path,
                         const std::string &wanted);

} // namespace engine_torch
