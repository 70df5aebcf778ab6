// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// States: arguments of forward() that get what an output was in the run before.
#pragma once

#include "constants.h"
#include "run_arguments.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace engine_torch
{

struct Source;

// Takes "OUTPUT" or "OUTPUT/FIRST".  Returns the ways to pass the state before the first run,
// likeliest first.  Throws a Failure if the text makes no sense for such an argument.
std::vector<Constant> state_choices(const std::string &name, const std::string &text,
                                    bool may_be_none);

// Returns "" for what is no state, or else words that name it, after a space.
std::string in_words(const StateInput &state);

// Returns the first value, [batch, channels, height, width], for those frames; undefined: None.
at::Tensor first_value(const Constant &state, const at::Tensor &pictures,
                       const at::TensorOptions &options);

// Returns the states for the next run: what forward() returned, without memory of `images`.
// `before` are the states that the run got.  A state that begins as None may be None again, unless
// `absent` refuses that.  Throws a Failure if the model returned no such tensor, or one of another
// shape than before.
enum class Absent { refused, none };
NamedTensors next_states(const c10::IValue &returned, const Source &source,
                         const NamedTensors &before, const at::Tensor &images,
                         Absent absent = Absent::none);

} // namespace engine_torch
