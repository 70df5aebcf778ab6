// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Arguments of forward() beside the pictures: values that are the same in every run, and further
// pictures.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <utility>
#include <vector>

namespace engine_torch
{

// What the user gave, by the argument's name: {"noise", "plane=0.1"}.
using GivenConstants = std::vector<std::pair<std::string, std::string>>;

// Parses "noise=0.1|sigma=25".  Throws a Failure if the text makes no sense.
GivenConstants parse_constants(const std::string &text);

struct Constant {
    enum class Kind {
        value,  // `value`, as it is
        scalar, // a tensor of rank 0
        vector, // [batch]
        plane,  // [batch, 1, height, width], in the layout of the pictures
        picture // [batch, channels, height, width], in that layout: another one in every run
    };
    std::string name;
    Kind kind = Kind::value;
    c10::IValue value = {};
    double number = 0;
    bool is_whole = false; // int64, and not as the pictures' numbers are
    int64_t channels = 0;  // of a picture
};

// The ways to give each of them, the likeliest first.  A run shows which of them a model takes.
using ConstantWays = std::vector<std::vector<Constant>>;

// Throws a Failure if forward() has no such argument or it takes no such value.
ConstantWays ways_to_give(const GivenConstants &given, const torch::jit::Module &module,
                          const std::string &input_name);

// Returns how many channels all further pictures have.
int64_t extra_channels(const std::vector<Constant> &constants);

// Returns what the model gets beside those pictures, [batch, channels, height, width]; not for
// further pictures, which come with them.  Tensors are
// new ones, for the model may write to them.
at::Tensor tensor_of(const Constant &constant, const at::Tensor &pictures,
                     const at::TensorOptions &options);

} // namespace engine_torch
