// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tasks that a model starts beside itself: torch.jit.fork().
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Puts the code of tasks where they are started, if whoever waits for them can be seen.  Cores are
// shared by workers, and a task that runs meanwhile could change what was checked.  Nobody else may
// use the module meanwhile.
void inline_forks(const torch::jit::Module &module);

// Calls forward().  What tasks there are still run at once, on this thread: others would outlive a
// run that fails.
c10::IValue run_forward(const torch::jit::Module &module, const torch::jit::Kwargs &arguments);

} // namespace engine_torch
