// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the values in a graph that are the same in every run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Returns the flag if the value is a constant one.
std::optional<bool> constant_flag(const torch::jit::Value *value);

// Knows constants, attributes that no code changes, and the results of simple comparisons of them.
// Belongs to one thread.  The module and the graph must outlive the object.
class KnownValues
{
public:
    // `graph` is the inlined graph of a method of `module`.
    KnownValues(const torch::jit::Module &module, const torch::jit::Graph &graph);

    // Returns nullopt if the value may differ from run to run, or is not found.
    std::optional<c10::IValue> value_of(const torch::jit::Value *value) const;
    std::optional<bool> truth_of(const torch::jit::Value *value) const;

    // Whether the attribute that the node reads may have been learnt.  True if the object is not
    // found.
    bool may_be_parameter(const torch::jit::Node &get_attribute) const;

private:
    std::optional<c10::IValue> found(const torch::jit::Value *value) const;
    std::optional<c10::IValue> attribute(const torch::jit::Node &node) const;
    std::optional<c10::IValue> computed(const torch::jit::Node &node) const;
    std::optional<c10::IValue> chosen(const torch::jit::Node &node, size_t output) const;

    const torch::jit::Module &module_;
    const torch::jit::Value *const self_;
    mutable std::map<const torch::jit::Value *, std::optional<c10::IValue>> seen_;
    mutable int depth_ = 0; // of value_of() in itself
    // Attributes that some code sets; with the value, if it is always the same flag.
    std::map<std::string, std::optional<bool>> set_;
};

} // namespace engine_torch
