// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the recipes of ONNX's operators read and write.  Needs no LibTorch.
#pragma once

#include "engines/torch/graphs/graph_code.h"
#include "onnx_file.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// One tensor has no more of them.
constexpr size_t most_sizes = 4096;

// One tensor of the graph.  ONNX computes sizes with small tensors; here they are numbers of
// TorchScript as long as possible, which the analysis of code understands.
struct GraphValue {
    Expression tensor = ""; // "": `numbers` are all there is so far
    NumberKind kind = NumberKind::real;
    int rank = -1; // below 0: not known
    std::optional<Numbers> numbers = {};
    // Of a weight, and of numbers of more than one dimension: the shape.
    std::optional<std::vector<int64_t>> shape = {};
};

// One graph under construction.  `node` is the operator whose recipe is at work.  Functions throw a
// WeightFault that names it.
class OnnxImport
{
public:
    // `input` is a tensor on the device of all others.
    OnnxImport(const OnnxModel &model, Net &net, const Expression &input);

    // Lists all operators that are not known, because exporting again takes time.
    void expect_known() const;
    void run();
    const GraphValue &find(const std::string &name);
    void define(const std::string &name, GraphValue value);
    // Returns the value as a tensor.
    Expression tensor_of(const std::string &name);

    Net &net() { return net_; }
    // The device of all tensors, as an expression.
    const Expression &device() const { return device_; }
    int64_t version() const { return model_.operators; }

    // ---- the operator's inputs, from 0 on
    bool has(size_t input) const;
    size_t input_count() const { return node_->inputs.size(); }
    const GraphValue &value(size_t input);
    Expression tensor(size_t input) { return tensor_of(name_of(input)); }
    // The same as floats, also where the file has whole numbers.
    Expression floats(size_t input);
    Expression tensor_or_none(size_t input) { return has(input) ? tensor(input) : "None"; }
    int rank(size_t input) { return value(input).rank; }
    // The rank, which has to be known.
    int known_rank(size_t input);
    NumberKind kind(size_t input) { return value(input).kind; }
    // The type of an input that is a tensor of the file.
    std::optional<ElementType> type_in_file(size_t input) const;
    // The elements of a small tensor, or none.  numbers_of() refuses where they are not known.
    std::optional<Numbers> numbers(size_t input);
    Numbers numbers_of(size_t input);
    // A tensor of one element as a number of TorchScript: "int(2)", or read while the model runs.
    Number number_of(size_t input, NumberKind kind);
    // The same, which must be literals.
    std::vector<int64_t> wholes_of(size_t input);

    // ---- its attributes
    const OnnxAttribute *attribute(std::string_view name) const;
    int64_t whole(std::string_view name, int64_t otherwise) const;
    // A count of 1 to 65536.
    int64_t positive(std::string_view name, int64_t otherwise) const;
    double real(std::string_view name, double otherwise) const;
    std::string text(std::string_view name, const std::string &otherwise) const;
    std::vector<int64_t> wholes(std::string_view name, std::vector<int64_t> otherwise = {}) const;
    // Numbers that older versions have as an attribute, and newer ones as an input.
    std::optional<Numbers> numbers_or_attribute(std::string_view name, size_t input);
    // "-128, 127" for int8.
    std::string limits(std::optional<ElementType> type) const;
    // A dimension, counted from the front.  Negative ones need the rank.
    int64_t axis(int64_t given, int rank) const;

    // ---- its outputs
    void give(const Expression &expression, int rank, NumberKind kind = NumberKind::real,
              size_t output = 0);
    void give_numbers(Numbers numbers, bool is_scalar, NumberKind kind);
    void give_value(GraphValue value, size_t output = 0);
    size_t output_count() const { return node_->outputs.size(); }
    bool wants(size_t output) const;
    const OnnxNode &node() const { return *node_; }
    // Runs a graph of one of its attributes, whose outputs become the operator's.
    void run_inside(const OnnxGraph &graph);

    // ---- blocks of code
    // While it lives, values belong to a block of code: those that the block makes end with it.
    class Scope
    {
    public:
        explicit Scope(OnnxImport &graph);
        ~Scope();
        Scope(const Scope &) = delete;
        Scope &operator=(const Scope &) = delete;

    private:
        OnnxImport &graph_;
        std::map<std::string, GraphValue, std::less<>> values_;
        std::map<std::string, Expression, std::less<>> floats_;
    };
    // Writes the operators of a graph of one of its attributes.
    void run_nodes(const OnnxGraph &graph);
    // Returns a condition.
    Expression truth_of(size_t input) { return truth_of_value(name_of(input)); }
    Expression truth_of_value(const std::string &name);
    // Returns the elements of a small tensor of the file, or nullopt if it is none.
    std::optional<Numbers> constant(const std::string &name) const;

    [[noreturn]] void refuse(const std::string &words) const;

private:
    std::string name_of(size_t input) const;
    void take(const std::string &name, const Weight &weight);
    Expression of_file(const std::string &name, const Weight &weight);
    Expression made_of_numbers(const GraphValue &value);
    void take_node(const OnnxNode &node);
    // The attribute, which must be of that type, or null.
    const OnnxAttribute *attribute_as(std::string_view name, int64_t type) const;
    void shorten(Numbers &numbers);

    const OnnxModel &model_;
    Net &net_;
    const OnnxNode *node_ = nullptr;
    const Expression device_; // of all tensors
    size_t number_count_ = 0; // of all values
    size_t scope_count_ = 0;
    std::map<std::string, GraphValue, std::less<>> values_;
    std::map<std::string, Expression, std::less<>> floats_; // of the file's whole numbers
};

using OnnxRecipe = void (*)(OnnxImport &);
using OnnxRecipes = std::map<std::string_view, OnnxRecipe>;

const OnnxRecipes &onnx_arithmetic();
const OnnxRecipes &onnx_control();
const OnnxRecipes &onnx_layers();
const OnnxRecipes &onnx_places();
const OnnxRecipes &onnx_recurrent();
const OnnxRecipes &onnx_shapes();

} // namespace engine_torch
