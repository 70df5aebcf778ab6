// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The values in a graph that are the same in every run.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Constants, attributes that no code sets, and what simple comparisons make of
// them.  Belongs to one thread; the module and the graph outlive it.
class KnownValues
{
public:
    // `graph` is the inlined one of a method of `module`.
    KnownValues(const torch::jit::Module &module, const torch::jit::Graph &graph);

    // Nothing where it may differ from run to run, or is not found.
    std::optional<c10::IValue> value_of(const torch::jit::Value *value) const;
    std::optional<bool> truth_of(const torch::jit::Value *value) const;

    // Whether the attribute that the node gets was learnt; true where the object is not found.
    bool may_be_parameter(const torch::jit::Node &get_attribute) const;

private:
    std::optional<c10::IValue> attribute(const torch::jit::Node &node) const;
    std::optional<c10::IValue> computed(const torch::jit::Node &node) const;
    std::optional<c10::IValue> chosen(const torch::jit::Node &node, size_t output) const;

    const torch::jit::Module &module_;
    const torch::jit::Value *const self_;
    std::set<std::string> set_; // the names of attributes that are set somewhere
};

} // namespace engine_torch
