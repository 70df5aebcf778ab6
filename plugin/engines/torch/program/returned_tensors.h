// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The tensors in the value that forward() returned, and their names.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace engine_torch
{

// A name is "image" in a dict, "1" in a tuple or a list, "out.1" in a list in a dict.
struct ReturnedTensor {
    std::string name;   // uses the field names of a NamedTuple
    std::string number; // the same with indices
    at::Tensor tensor;
};

// Returns the tensors in order.  Skips None and other values.  Throws a Failure if they are nested
// more deeply than in any model, or too many.
std::vector<ReturnedTensor> tensors_in(const c10::IValue &returned);

// Returns "a dict", "a tuple" or "a list"; "" for other values.
std::string kind_in_words(const c10::IValue &returned);

std::string names_of(const std::vector<ReturnedTensor> &tensors);

// Returns the tensor of that name or number, or else the first one below it, or null.
const ReturnedTensor *find(const std::vector<ReturnedTensor> &tensors, const std::string &name);

} // namespace engine_torch
