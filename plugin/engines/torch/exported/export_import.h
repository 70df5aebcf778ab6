// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Turns the graph of a torch.export program into code.  Needs no LibTorch.
#pragma once

#include "engines/torch/architectures/net.h"
#include "export_archive.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// Whether LibTorch has the operator, and whether a model may use it: "conv2d".
struct OperatorLookup {
    std::function<bool(const std::string &)> is_here, is_allowed;
};

// A tensor or a number of the graph.
struct ExportValue {
    Expression text = "";    // "": the tensor `weight`, which no code has used yet
    std::string weight = ""; // its name
};

// One graph under construction.  Functions throw a WeightFault that names the operator at work.
class ExportImport
{
public:
    using Values = std::map<std::string, ExportValue, std::less<>>;

    // `device` is an expression of the device of all tensors.
    ExportImport(const Weights::Map &tensors, Net &net, Expression device, OperatorLookup lookup);

    // Lists all operators that are not known, because exporting again takes time.
    void expect_known(const ExportJson &graph) const;
    // Writes the graph with these values.  Afterwards value_of() finds all others.
    void run(const ExportJson &graph, Values values);
    // Returns the value of an argument as an expression.
    Expression value_of(const ExportJson &argument, std::string_view name = "");

    Net &net() { return net_; }
    const Expression &device() const { return device_; }
    // ---- for recipes: the operator's arguments by their names in its schema
    bool has(std::string_view argument) const;
    Expression argument(std::string_view name, const Expression &otherwise = "None");
    // The number of dimensions, and the type, of an argument that is a tensor; below 0: not known.
    int rank(std::string_view argument) const;
    int type(std::string_view argument) const;
    // The whole numbers of an argument that is a list of constants.
    std::vector<int64_t> wholes(std::string_view argument) const;
    bool is_true(std::string_view argument);
    bool is_number(std::string_view argument) const;
    bool is_here(const std::string &name) const { return lookup_.is_here(name); }
    // Writes the result, of operators with one or with several of which others are not used.
    void give(const Expression &result);
    void give_number(const Expression &number);
    void give_element(const Expression &tensor); // as a number
    // Calls an operator with all arguments of the file but these.
    Expression call(const std::string &name, const std::set<std::string_view> &without = {});
    [[noreturn]] void refuse(const std::string &words) const;

private:
    const ExportJson *find(std::string_view argument) const;
    const ExportJson *about(std::string_view argument) const;
    Expression text_of(const std::string &name);
    Expression tensor_of(const std::string &name, const Weight &weight);
    void take_node(const ExportJson &node);
    void take_number(const std::string &name);
    void take_branch(const ExportJson &node);
    void give_all(const Expression &results);
    void define(const std::string &name, ExportValue value);
    void define_number(const ExportJson &output, Expression number);

    const Weights::Map &tensors_;
    Net &net_;
    const Expression device_;
    const OperatorLookup lookup_;
    const ExportJson *graph_ = nullptr, *node_ = nullptr;
    Values values_;
    std::map<std::string, Expression, std::less<>> weights_; // that code has used
};

using ExportRecipe = void (*)(ExportImport &);

// Returns the name of the operator that has the same arguments and does the same, mostly `name`.
std::string export_name(const std::string &name);
// Returns null for operators that are written as they are.
ExportRecipe find_export_recipe(std::string_view name);
// Whether it only checks what is known, such as _assert_scalar.
bool is_export_check(std::string_view name);

// Returns a number of TorchScript, also of infinity.
std::string real_of(const ExportJson &value);

} // namespace engine_torch
