// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Extra arguments of forward(): values that are the same in every run unless the caller gives
// others, extra pictures, and states.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <utility>
#include <vector>

namespace engine_torch
{

// What the user gave, by argument name: {"noise", "plane=0.1"}.
using GivenConstants = std::vector<std::pair<std::string, std::string>>;

// Parses "noise=0.1|sigma=25".  Throws a Failure if the text makes no sense.
GivenConstants parse_constants(const std::string &text);

// What a state is, and what it is in the first run.
struct StateInput {
    enum class First { none, frame, zeros };
    std::string output = {}; // the tensor of the run before that is passed
    First first = First::none;
    int64_t channels = 0; // of zeros; 0: as many as the frame
    double scale = 1;     // size of the first value, as a multiple of the frame's; 0: 1x1
};

struct Constant {
    enum class Kind {
        value,   // `value`, as it is
        scalar,  // a tensor of rank 0
        vector,  // [batch]
        plane,   // [batch, 1, height, width], in the layout of the pictures
        picture, // [batch, channels, height, width], in that layout; differs from run to run
        ratio,   // by which a matting network makes the frame smaller: its longer side is 512 then
        state    // what an output was in the run before
    };
    std::string name;
    Kind kind = Kind::value;
    c10::IValue value = {};
    double number = 0;
    bool changes = false;  // each picture has a number of its own; `number` is for trials
    bool is_whole = false; // int64 instead of the type of the pictures
    int64_t channels = 0;  // of an extra picture
    StateInput state = {};
};

// All ways to pass each constant, likeliest first.  A run shows which of them the model takes.
using ConstantChoices = std::vector<std::vector<Constant>>;

// Throws a Failure if forward() has no such argument or does not take such a value.
ConstantChoices constant_choices(const GivenConstants &given, const torch::jit::Module &module,
                                 const std::string &input_name);

// Whether forward() has the arguments of RobustVideoMatting, as its authors export it: four states,
// and the ratio by which it makes frames smaller.
bool is_matting(const torch::jit::Module &module);
// The tensor that is the alpha, and the contract, as JSON.
constexpr const char *matting_output = "1";
extern const char *const matting_contract;
// Has that ratio chosen by the frames' size, unless it was given.
void add_matting_ratio(const torch::jit::Module &module, GivenConstants &given);

// Returns how many channels all extra pictures have together.
int64_t extra_channels(const std::vector<Constant> &constants);

// Returns the ratio for pictures [batch, channels, height, width].
double ratio_for(const at::Tensor &pictures);

// Whether a picture's number is given to the model alone, so that pictures run one by one.
bool is_for_one(const Constant &constant);

// Returns the tensor that the model gets with those pictures, [batch, channels, height, width].
// `numbers` is one number, or one for each picture.  Not for extra pictures, which come with the
// frames, and not for states.  The tensor is new, because the model may write to it.  Throws a
// Failure if there are not as many numbers.
at::Tensor tensor_of(const Constant &constant, const at::Tensor &numbers,
                     const at::Tensor &pictures, const at::TensorOptions &options);

} // namespace engine_torch
