// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What in a model is not permitted.
#pragma once

#include "operators.h"
#include "source_check.h"

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// By what the text of its code says: each name ("aten::save") once.
std::vector<std::string> find_refused(const SourceFacts &facts, const Permissions &permissions);

// The name by which the option `allow` permits code that runs while a file is loaded.
constexpr const char *loading_code = "__setstate__";

// Whether loading the file would run code of its own that the user did not allow.
bool runs_while_loading(const SourceFacts &facts, const Permissions &permissions);

// By what LibTorch has made of it, in every function that came with the module.
std::vector<std::string> find_refused(const torch::jit::Module &module,
                                      const Permissions &permissions);

// From now on the module gets zeros where it asks for memory as it comes, which
// may hold what other parts of the program have left there.
void clear_raw_memory(const torch::jit::Module &module);

} // namespace engine_torch
