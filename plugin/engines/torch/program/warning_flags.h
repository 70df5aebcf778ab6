// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Flags whose only purpose is to keep a model from warning twice.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Sets each flag of the module that only controls a warning to the value that forward() would set.
// Then no run changes it, and none warns.  torchvision's detectors have such a flag.  No other
// thread may run the module meanwhile.
void preset_warning_flags(const torch::jit::Module &module);

} // namespace engine_torch
