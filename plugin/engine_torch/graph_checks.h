// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model's graph tells before it runs.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Looks through every function that came with the module.  Returns the first
// denied operator or class ("aten::save"), or "".
std::string find_denied_operator(const torch::jit::Module &module);

// Code in the archive that would run while it is loaded, and what in it is
// denied ("save"), or "".  Throws what LibTorch throws at a damaged archive.
std::string find_denied_in_loading_code(const std::string &path);

struct Traits {
    bool writes_input; // forward() may change the tensor that it is given
    bool keeps_state;  // what forward() returns may depend on earlier runs
};

// The graph of forward() may be that of a frozen copy, which tells more.
// `input_name` is forward()'s argument that the images go to.
Traits traits_of(const torch::jit::Module &module, const std::string &input_name);

} // namespace engine_torch
