// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads an ONNX file: a graph of operators, and tensors.  Needs no LibTorch.
#pragma once

#include "engines/torch/checkpoint/weights.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

struct OnnxGraph;

struct OnnxAttribute {
    float real = 0;
    int64_t number = 0;
    std::string text;
    std::vector<float> reals;
    std::vector<int64_t> numbers;
    std::optional<Weight> tensor;
    std::shared_ptr<const OnnxGraph> graph; // null: there is none
    int64_t type = 0;                       // 2: a whole number, and so on; 0 in old files
};

struct OnnxNode {
    std::string name, type; // "/up/Resize", "Resize"
    std::string domain;     // "" for ONNX's own operators
    std::vector<std::string> inputs, outputs;
    std::map<std::string, OnnxAttribute, std::less<>> attributes;
};

// An input or an output of the whole graph.
struct OnnxValue {
    std::string name;
    std::optional<ElementType> type; // nullopt: not a tensor, or one of a type without a name here
    bool has_shape = false;
    std::vector<int64_t> shape; // -1: any
};

// Tensors are in the model, also those of graphs in attributes.
struct OnnxGraph {
    std::vector<OnnxNode> nodes;
    std::vector<OnnxValue> inputs, outputs; // inputs without those that are tensors
};

struct OnnxModel : OnnxGraph {
    int64_t version = 0;   // of the format
    int64_t operators = 0; // version of ONNX's own operators
    std::string producer;
    std::map<std::string, std::string, std::less<>> properties;
    std::map<std::string, Weight, std::less<>> tensors; // views of the file, or of `decoded`
    std::deque<std::string> decoded;
    std::vector<std::string> absent; // names of files that hold tensors and were not given
};

// The bytes of files beside the ONNX file, by their names.
using OnnxParts = std::map<std::string, std::string_view, std::less<>>;

// Returns the type that ONNX gives this number, or nullopt if it is not known here.
std::optional<ElementType> element_type(int64_t number);

// Whether the bytes may be an ONNX file: Protocol Buffers have no magic number.
bool may_be_onnx(std::string_view bytes);

// The bytes must outlive the result.  Throws a WeightFault that says what is wrong.  Tensors in
// files that are absent are empty.
OnnxModel read_onnx(std::string_view bytes, const OnnxParts &parts = {});

} // namespace engine_torch
