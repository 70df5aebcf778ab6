// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The tensors within what forward() returned, and their names.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace engine_torch
{

// "image" of a dict, "1" of a tuple or a list, "out.1" of a list in a dict.
struct ReturnedTensor {
    std::string name;   // with the names of a NamedTuple's fields
    std::string number; // the same with their places
    at::Tensor tensor;
};

// Returns them in order.  What is None, and what is no tensor, has no entry.  Throws a Failure if
// they are nested more deeply than any model needs, or too many.
std::vector<ReturnedTensor> tensors_in(const c10::IValue &returned);

// "a dict", "a tuple", "a list"; or "" for other values.
std::string kind_in_words(const c10::IValue &returned);

std::string names_of(const std::vector<ReturnedTensor> &tensors);

// Returns the tensor of that name or number, or else the first below it; or null.
const ReturnedTensor *find(const std::vector<ReturnedTensor> &tensors, const std::string &name);

} // namespace engine_torch
