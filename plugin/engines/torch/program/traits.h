// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What forward() does beside computing, read from its graph.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// Where the graph does not tell, the worse is assumed.
struct Traits {
    bool writes_input = false;         // forward() may change the tensor that it is given
    bool keeps_state = false;          // a run may change what later runs see
    bool writes_weights = false;       // and parameters may be among that
    bool writes_constants = false;     // and so may tensors that stand in the code itself
    bool branches_on_data = false;     // which code runs may depend on the samples
    std::vector<std::string> random;   // the operators that draw random numbers
    std::vector<std::string> training; // those that run in training mode
};

// `input_name` is forward()'s argument that the images go to.  The module is in
// evaluation mode.
Traits traits_of(const torch::jit::Module &module, const std::string &input_name);

} // namespace engine_torch
