// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A call of an operator as text, and as values.  The text is JSON:
//   {"operator": "aten::add", "overload": "Tensor", "types": {"t": "int"}, "arguments": [...]}
// A number, a text, a bool and null are themselves, and a list is an array.  Further:
//   {"default": true}                  what the declaration says
//   {"float": "nan"}                   also "inf" and "-inf"
//   {"complex": [0.5, 1.0]}
//   {"device": "cpu"}
//   {"pairs": [[key, value], ...]}     a dict
//   {"sizes": [1, 3, 8, 8], "type": "float", "values": "ramp", "layout": "plain"}
// `types` says what the declaration's free types stand for, and "begin": true that a page without
// access lies before each tensor, instead of behind it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <torch/csrc/jit/runtime/operator.h>
#include <vector>

namespace fuzz
{

using Json = nlohmann::json;
using OperatorPointer = std::shared_ptr<torch::jit::Operator>;

extern const std::vector<std::string> tensor_types, tensor_values, tensor_layouts;

// Whether all arguments are of types that texts can tell.
bool can_be_called(const c10::FunctionSchema &schema);

// Returns the type with its free types replaced as `types` says.
c10::TypePtr concrete(const c10::TypePtr &type, const Json &types);

// Throws an exception if the text has no such values, or a tensor cannot be made.
std::vector<c10::IValue> values_of(const Json &call, const c10::FunctionSchema &schema);

} // namespace fuzz
