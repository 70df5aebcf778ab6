// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Flags that only keep a model from warning twice.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Gives each flag of the module that decides over nothing but a warning the value that forward()
// would set it to.  No run changes it then, and none warns.  torchvision's detectors have one.  No
// other thread may run the module meanwhile.
void settle_warning_flags(const torch::jit::Module &module);

} // namespace engine_torch
