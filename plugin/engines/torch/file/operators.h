// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model may use: the operators that only compute, of tensors, numbers,
// texts and lists.  A model file is somebody else's program.  Needs no LibTorch.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace engine_torch
{

// Never changes; any thread.
class Permissions
{
public:
    // `allow` as the option has it: further names, between plus signs, bars,
    // commas or spaces.  Throws a Failure where one cannot be a name.
    explicit Permissions(std::string_view allow = {});

    // `name` as in "aten::relu".  Everything that is not known is refused.
    bool has_operator(std::string_view name) const;

    // The same of a graph, which has nodes without a name in code as well.
    bool has_node(std::string_view name) const;

    // A class that is made in C++: "torch.classes.quantized.Conv2dPackedParamsBase".
    bool has_class(std::string_view name) const;

    // Whether the user named it; "__setstate__" stands for any code that loading runs.
    bool is_allowed(std::string_view name) const;

private:
    std::set<std::string, std::less<>> allowed_;
};

// Whether the operator gives out memory as it comes, with whatever lay there:
// "aten::empty" and the like, of which load.h makes zeros.
bool gives_raw_memory(std::string_view name);

// The name as the option `allow` takes it in a filter's text, where a colon has
// a meaning: "relu", "torchvision.nms".
std::string name_to_allow(std::string_view name);

} // namespace engine_torch
