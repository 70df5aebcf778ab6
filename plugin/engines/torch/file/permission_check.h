// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds what a model uses without permission.
#pragma once

#include "operators.h"
#include "source_check.h"

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// Returns each refused name ("aten::save") once, from the text of the code.
std::vector<std::string> find_refused(const SourceFacts &facts, const Permissions &permissions);

// Whether loading the file would run its own code although the user did not allow it.
bool runs_while_loading(const SourceFacts &facts, const Permissions &permissions);

// Returns the refused names in LibTorch's graphs of all functions that came with the module.
std::vector<std::string> find_refused(const torch::jit::Module &module,
                                      const Permissions &permissions);

// Returns the names in the option `allow` that mean nothing in this LibTorch, as the option writes
// them.
std::vector<std::string> find_unknown(const Permissions &permissions);

// Makes the module allocate zeros instead of uninitialised memory, which may hold data of other
// parts of the program.
void clear_raw_memory(const torch::jit::Module &module);

} // namespace engine_torch
