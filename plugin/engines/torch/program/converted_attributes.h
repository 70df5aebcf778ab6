// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Attributes that a method only converts, as in self.mean = self.mean.type_as(x).
#pragma once

#include <set>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

// An attribute that is converted wherever it is set.
struct ConvertedAttribute {
    std::vector<std::string> path; // each name is an attribute of the object before it
    std::set<torch::jit::Node *> reads, sets;
};

// `graph` is the inlined graph of a method of `module`.
std::vector<ConvertedAttribute> converted_attributes(const torch::jit::Module &module,
                                                     torch::jit::Graph &graph);

// Makes every run begin with the saved attribute: removes what sets it, and gives the converted
// value to what reads it later.  Returns whether the saved one is used for nothing else; if not,
// runs that begin with a converted attribute may have other results.
bool take_out(torch::jit::Graph &graph, const ConvertedAttribute &attribute);

} // namespace engine_torch
