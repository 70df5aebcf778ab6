// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds what is not permitted in a model.
#pragma once

#include "operators.h"
#include "source_check.h"

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// Returns each refused name ("aten::save") once, as the text of the code has it.
std::vector<std::string> find_refused(const SourceFacts &facts, const Permissions &permissions);

// With this name in the option `allow`, a file's code may run while the file is loaded.
constexpr const char *loading_code = "__setstate__";

// Whether loading the file would run code of its own that the user did not allow.
bool runs_while_loading(const SourceFacts &facts, const Permissions &permissions);

// Returns the names that LibTorch's graphs have, in all functions that came with the module.
std::vector<std::string> find_refused(const torch::jit::Module &module,
                                      const Permissions &permissions);

// Returns the names of the option `allow` that stand for nothing in this LibTorch, as the option
// takes them.
std::vector<std::string> find_meaningless(const Permissions &permissions);

// Makes the module allocate zeros wherever it would get uninitialised memory, which may hold data
// of other parts of the program.
void clear_raw_memory(const torch::jit::Module &module);

} // namespace engine_torch
