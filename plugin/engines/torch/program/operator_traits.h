// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What single operators do that their schemas may or may not tell.
#pragma once

#include <ATen/core/function_schema.h>

#include <string>

namespace engine_torch
{

// Of operators that train with an argument's leave: its name is one of these.
constexpr const char *mode_arguments[] = {"train", "training", "use_input_stats"};

// Whether the argument with this alias information is a container whose tensors are written to.
bool writes_elements(const c10::AliasInfo &alias);

// Whether what is returned may be, hold or come out of what was given.
bool may_alias(const c10::AliasInfo &returned, const c10::AliasInfo &given);

// Whether it draws from LibTorch's random numbers, at least in training mode.
bool draws_random_numbers(const c10::FunctionSchema &schema);

// Whether running it in training mode is a sign of a forgotten eval().
bool is_for_training(const c10::FunctionSchema &schema);

// Some return what they were given where there is nothing to do, and do not say so.
bool may_return_input(const std::string &name);

// Whether the extents of what it returns may depend on the samples.
bool has_odd_extents(const c10::FunctionSchema &schema);

// Whether it looks at a tensor's extents and the like alone.
bool reads_no_samples(const std::string &name);

} // namespace engine_torch
