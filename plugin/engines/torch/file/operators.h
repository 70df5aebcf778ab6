// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model may use: operators that only compute with tensors, numbers, texts and lists, because
// a model file is somebody else's program.  Needs no LibTorch.
#pragma once

#include "dnn_torch/engine.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace engine_torch
{

// Once the option `allow` has this name, a file's code may run while the file is loaded.
constexpr const char *loading_code = "__setstate__";

// Once it has this name, a package of compiled code may run.
constexpr const char *compiled_code = DNN_TORCH_COMPILED_CODE;

// Never changes; any thread.
class Permissions
{
public:
    // `allow` is the option's text: further names, separated by plus signs, bars, commas or spaces.
    // Throws a Failure if one of them cannot be a name.
    explicit Permissions(std::string_view allow = {});

    // What code that was generated here may use: this operator of our own, too.
    static Permissions of_generated_code(std::string_view own_operator);

    // `name` is written as in "aten::relu".  Unknown operators are refused.
    bool has_operator(std::string_view name) const;

    // The same for a graph node.  Some nodes have no name in code.
    bool has_node(std::string_view name) const;

    // Whether the model may use this C++ class: "torch.classes.quantized.Conv2dPackedParamsBase".
    bool has_class(std::string_view name) const;

    // Whether the user allowed it.
    bool is_allowed(std::string_view name) const;

    // The names that the user allowed, as in "aten::relu"; "aten::*" is all of "aten".
    const std::set<std::string, std::less<>> &allowed() const { return allowed_; }

private:
    std::set<std::string, std::less<>> allowed_;
    std::string own_;
};

// Whether it is an operator that only code of ours calls.  No user can allow one.
inline bool is_our_own(std::string_view name)
{
    return name.starts_with("dnn_torch::");
}

// Whether the operator returns uninitialised memory, as "aten::empty" does.  clear_raw_memory()
// replaces such operators.
bool gives_raw_memory(std::string_view name);

// Returns the name as the option `allow` takes it in the text of a filter, where a colon has a
// meaning: "relu", "quantized.linear".
std::string name_to_allow(std::string_view name);

} // namespace engine_torch
