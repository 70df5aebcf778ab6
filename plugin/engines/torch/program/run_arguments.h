// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What one run gets besides its pictures.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace engine_torch
{

// Tensors by the name of the argument of forward() that takes them.
using NamedTensors = std::map<std::string, at::Tensor>;

struct RunArguments {
    int64_t number = 0;       // of the first picture in the stream: it seeds the random numbers
    NamedTensors states = {}; // what the run before returned for them; absent: the first values
    // Values for this run, in place of those of the option `inputs`.  A tensor of rank 0 is a
    // number, which the model gets in the form of the option, and so is one of rank 1 for an input
    // whose numbers change from picture to picture.
    NamedTensors values = {};
};

} // namespace engine_torch
