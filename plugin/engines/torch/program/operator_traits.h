// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What single operators do.  Schemas tell only some of it.
#pragma once

#include <ATen/core/function_schema.h>

#include <string>
#include <string_view>

namespace engine_torch
{

// Some operators have a training mode.  An argument with one of these names switches it on.
constexpr const char *mode_arguments[] = {"train", "training", "use_input_stats"};

// Whether the argument with this alias information is a container whose tensors are written to.
bool writes_elements(const c10::AliasInfo &alias);

// Whether the returned value may be the given one, be held by it or hold it.
bool may_alias(const c10::AliasInfo &returned, const c10::AliasInfo &given);

// Whether the operator draws from LibTorch's random numbers, at least in training mode.
bool draws_random_numbers(const c10::FunctionSchema &schema);

// Whether it is a sign of a forgotten eval() if the operator runs in training mode.
bool is_for_training(const c10::FunctionSchema &schema);

// Some operators return their input if there is nothing to do, and their schemas do not say so.
bool may_return_input(const std::string &name);

// Whether the operator computes a picture of another size.
bool interpolates(std::string_view name);

// Whether the extents of the result may depend on the samples.
bool has_odd_extents(const c10::FunctionSchema &schema);

// Whether the operator looks only at a tensor's extents and the like.
bool reads_no_samples(const std::string &name);

} // namespace engine_torch
