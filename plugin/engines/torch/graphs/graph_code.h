// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the code of a graph from elsewhere is made of: names, numbers and tensors as expressions of
// TorchScript.  ONNX files and programs of torch.export both need it.  Needs no LibTorch.
#pragma once

#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/architectures/net.h"

#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Returns a name of Python that TorchScript and code generated here leave free: "input_1" for
// "input.1".
std::string python_name(std::string name);

// A network whose code does nothing but call an operator of our own, which runs what has that
// number: dnn_torch::FUNCTION(Tensor[] inputs, int number) -> Tensor[].
struct OutsideCall {
    std::string function; // "dnn_torch::run_onnx"
    int64_t number = 0;
    std::vector<std::string> inputs, outputs; // names of Python's
};
Blueprint network_that_calls(const OutsideCall &call, const std::string &architecture);

enum class NumberKind { real, whole, truth };
NumberKind kind_of(ElementType type);

// A number as an expression of TorchScript: "2", "x.size(2) * 2".
using Number = std::string;
using Numbers = std::vector<Number>;

// The shortest literal of it: "0.7", which is what the exporter was told.
Number literal_of(float number);
Number literal_of(int64_t number);

// Returns the number if the expression is a literal.
std::optional<int64_t> known_whole(const Number &number);
std::optional<double> known_real(const Number &number);

// The elements of a tensor as whole numbers.
std::vector<int64_t> wholes_in(const Weight &weight);

// The number of a type as PyTorch counts them; code generated here has no names for them.
int type_number(NumberKind kind);

// "[a, b]"
std::string list_of(const Numbers &numbers);
std::string list_of(const std::vector<int64_t> &numbers);

// Returns a tensor of the file as an expression; whole numbers have 64 bits.
Expression tensor_in_code(Net &net, const std::string &name, const Weight &weight);

// Returns small tensors of the file as numbers, or nullopt.
std::optional<Numbers> numbers_in(const Weight &weight);

} // namespace engine_torch
