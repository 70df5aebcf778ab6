// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out from a model's graph why a sample of its result may depend on distant parts of a
// picture in a way that no trial would show: a branch on samples, places computed from samples, a
// statistic of the whole picture, or an operator of unknown reach on the outcome of a comparison or
// a lookup.  Attention does not count: a trial shows its reach.  Also finds the reach of the
// kernels, which comparisons may hide from trials.
#pragma once

#include "kernel_reach.h"
#include "picture_layout.h"

#include <array>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

struct Locality {
    // An operator's name, or a description; "" if there is none.  Never "" in case of doubt.
    std::string nonlocal_operator;
    // The reach of the kernels in height and width; nullopt if the graph has unknown operators.
    std::optional<std::array<KernelReach, 2>> kernels;
};

// `input_name` is the argument of forward() that takes the pictures, in that layout.
Locality locality_of(const torch::jit::Module &module, const std::string &input_name,
                     Layout layout);

} // namespace engine_torch
