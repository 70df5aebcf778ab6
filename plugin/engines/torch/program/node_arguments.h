// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a graph's operators are called with.
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

// Returns nullopt if the value is null, or no whole number or list of them that is always the same.
std::optional<std::vector<int64_t>> numbers(const KnownValues &known,
                                            const torch::jit::Value *value);

// The same of numbers that may be fractions.
std::optional<std::vector<double>> fractions(const KnownValues &known,
                                             const torch::jit::Value *value);

} // namespace engine_torch
