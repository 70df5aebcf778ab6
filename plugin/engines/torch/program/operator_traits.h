// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What each operator does.  Schemas only show some of it.
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

// Whether the returned value may be the given one, be part of it or contain it.
bool may_alias(const c10::AliasInfo &returned, const c10::AliasInfo &given);

// Whether the operator draws random numbers from LibTorch, at least in training mode.
bool draws_random_numbers(const c10::FunctionSchema &schema);

// Whether training mode of the operator is a sign of a forgotten eval().
bool is_for_training(const c10::FunctionSchema &schema);

// Whether the operator may return its input if there is nothing to do.  Schemas do not show it.
bool may_return_input(const std::string &name);

// Whether the operator resizes a picture.
bool interpolates(std::string_view name);

// Whether the extents of the result may depend on the samples.
bool has_dynamic_extents(const c10::FunctionSchema &schema);

// Whether the operator only reads a tensor's extents and other metadata.
bool reads_no_samples(const std::string &name);

} // namespace engine_torch
