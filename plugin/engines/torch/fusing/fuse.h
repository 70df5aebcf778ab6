// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Puts fused programs in the place of parts of a model.
#pragma once

#include "engines/torch/fused/rows.h"

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Whether this build has fused programs.
bool can_fuse();

// Returns a copy of a frozen module whose layers, as far as they are known, are computed by fused
// programs, one frame at a time and on one thread.  Returns nullopt if there are none.  Pictures
// that come in have `channels`.
std::optional<torch::jit::Module> fused_copy(const torch::jit::Module &frozen,
                                             const std::string &input_name, int64_t channels,
                                             fused::Precision precision);

} // namespace engine_torch
