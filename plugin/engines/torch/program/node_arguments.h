// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads the arguments of a graph's operators.
#pragma once

#include "known_values.h"

#include <cstdint>
#include <optional>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

// Returns null if the operator has no such argument.
const torch::jit::Value *argument(const torch::jit::Node &node, const char *name);

// Returns the node that builds the list from its elements, or null.
const torch::jit::Node *builder_of_list(const KnownValues &known, const torch::jit::Value *list);

// Returns nullopt unless the value is an integer, or a list of them, that is the same in every run.
std::optional<std::vector<int64_t>> numbers(const KnownValues &known,
                                            const torch::jit::Value *value);

// The same for numbers that may be fractions.
std::optional<std::vector<double>> fractions(const KnownValues &known,
                                             const torch::jit::Value *value);

} // namespace engine_torch
