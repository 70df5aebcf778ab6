// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What forward() does besides computing, read from its graph.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// In case of doubt, the worse is assumed.
struct Traits {
    bool writes_input = false;     // forward() may change its input tensor
    bool keeps_state = false;      // a run may change what later runs read
    bool writes_weights = false;   // a run may change parameters; implies keeps_state
    bool writes_constants = false; // a run may change tensors in the code; implies keeps_state
    bool branches_on_data = false; // which code runs may depend on the samples
    bool uses_samples_as_numbers =
        false;                         // there is one number for a batch, not one for each picture
    bool forks = false;                // a run may start asynchronous tasks
    bool may_draw = false;             // code that is not visible may draw random numbers
    std::vector<std::string> random;   // the operators that draw random numbers
    std::vector<std::string> training; // the operators that run in training mode
};

// `picture_names` are the arguments of forward() that take pictures, `given_names` all that get
// anything.  The module must be in evaluation mode.
Traits traits_of(const torch::jit::Module &module, const std::vector<std::string> &picture_names,
                 const std::vector<std::string> &given_names);

// Makes every run begin with the saved attributes if runs do nothing but convert them, as in
// self.mean = self.mean.type_as(x), and no other state is found.  Returns whether it has
// changed the module, whose traits are others then.  Nobody else may use the module meanwhile.
bool forget_conversions(const torch::jit::Module &module,
                        const std::vector<std::string> &picture_names,
                        const std::vector<std::string> &given_names);

} // namespace engine_torch
