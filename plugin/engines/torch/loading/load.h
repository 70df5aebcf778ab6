// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Loads a model file with LibTorch.
#pragma once

#include "engines/torch/architectures/architecture.h"
#include "engines/torch/checkpoint/checkpoint.h"
#include "engines/torch/exported/export_import.h"
#include "engines/torch/file/archive.h"
#include "engines/torch/file/operators.h"
#include "engines/torch/program/constants.h"

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// Returns the module in evaluation mode, after checking all its functions.  Throws a Failure that
// names the file.
torch::jit::Module load_module(const Archive &archive, const c10::Device &device,
                               const Permissions &permissions);

// Returns the network that fits the checkpoint's weights; the result refers to the checkpoint.
// Throws a Failure that names the file.
Recognised recognise(const Checkpoint &checkpoint);
torch::jit::Module load_network(const Checkpoint &checkpoint, const Recognised &recognised,
                                const c10::Device &device, const Permissions &permissions);

// Returns a network whose code was generated here.  Throws a Failure that names the file.
torch::jit::Module load_network(const std::string &path, const Blueprint &network,
                                const Weights &weights, const c10::Device &device,
                                const Permissions &permissions);

// What a torch.export program may use.  `permissions` must outlive the result.
OperatorLookup lookup_of(const Permissions &permissions);

// Returns the network as build_module() builds it, on the CPU.
torch::jit::Module load_plain_network(const std::string &path, const Blueprint &network,
                                      const Weights &weights);

// Returns the module after checking only its values: it may use operators that load_module()
// refuses.  Call it only if runs_while_loading() is false, because it would run such code.
torch::jit::Module load_any_module(const Archive &archive, const c10::Device &device);

// Returns the arguments of forward() without the module itself.
std::vector<c10::Argument> arguments_of(const torch::jit::Module &module);

// Whether forward() takes its pictures as a list of tensors, as torchvision's detectors do.
bool takes_list(const torch::jit::Module &module, const std::string &input_name);

// Whether forward() declares that it returns a single tensor.
bool returns_one_tensor(const torch::jit::Module &module);

// Returns the argument of forward() that takes the pictures: the one named `wanted`, or else the
// first Tensor or List[Tensor] that is not in `given`.  Throws a Failure unless all others have
// defaults or are given.
std::string choose_input(const torch::jit::Module &module, const std::string &path,
                         const std::string &wanted, const GivenConstants &given);

} // namespace engine_torch
