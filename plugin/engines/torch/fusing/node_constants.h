// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads inputs of nodes that are constants of a frozen graph.  All of these return nullopt for a
// value that is no constant, is of another type or is missing (null).
#pragma once

#include "engines/torch/fused/graph.h"

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <string>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

bool is_none(const torch::jit::Value *value); // also if it is missing

// Whether no code changes the list after it was made.
bool stays_as_made(const torch::jit::Value *list);

std::optional<int64_t> whole_constant(const torch::jit::Value *value);
std::optional<bool> truth_constant(const torch::jit::Value *value);
std::optional<std::string> word_constant(const torch::jit::Value *value);
std::optional<std::vector<int64_t>> whole_list_constant(const torch::jit::Value *value);
std::optional<std::vector<double>> number_list_constant(const torch::jit::Value *value);
// One number stands for both.
std::optional<fused::Pair> pair_constant(const torch::jit::Value *value);
// Also reads a tensor without dimensions.
std::optional<double> number_constant(const torch::jit::Value *value);
// None counts as `otherwise`.
std::optional<double> number_or(const torch::jit::Value *value, double otherwise);

// Of floats, on the CPU, as float32.
std::optional<at::Tensor> float_constant(const torch::jit::Value *value);
std::vector<float> numbers_of(const at::Tensor &tensor);
// Shares the tensor's memory, which must not change any more.
fused::Weights weights_in(const at::Tensor &tensor);

// Returns one number for each channel, of a constant that is added to pictures or multiplied with
// them, or of a vector of weights.  None counts as `missing`, if that is given.
std::optional<std::vector<float>> channel_constants(const torch::jit::Value *value,
                                                    std::optional<float> missing, int64_t channels);

} // namespace engine_torch
