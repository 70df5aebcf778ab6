// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How operators of LibTorch become operations of fused programs.
#pragma once

#include "engines/torch/fused/graph.h"

#include <cstddef>
#include <optional>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

// How a picture is computed from others: [batch, channels, height, width] throughout.
struct Recipe {
    // One of the pictures that the recipe begins with, or the result of an earlier step.
    struct Operand {
        const torch::jit::Value *picture = nullptr;
        size_t step = 0; // if there is no picture
    };
    struct Step {
        fused::Operation operation;
        std::vector<Operand> operands;
    };

    std::vector<const torch::jit::Value *> pictures;
    std::vector<Step> steps; // the last one makes the result; none: it is the only picture
    bool is_view = false;    // the result may share memory with a picture
};

// Knows how many channels a picture has; 0: unknown.
class Channels
{
public:
    virtual ~Channels() = default;
    virtual int64_t of(const torch::jit::Value *picture) const = 0;
};

// Returns how the value is computed, or nullopt if its node is unknown, or lacks the constants that
// must be known.  The graph must be frozen.
std::optional<Recipe> recipe_of(const torch::jit::Value &value, const Channels &channels);

} // namespace engine_torch
