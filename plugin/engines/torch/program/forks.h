// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Asynchronous tasks that a model starts: torch.jit.fork().
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Inlines the code of tasks where they are started, if every wait for them is visible in the graph.
// Workers share cores, and a concurrent task could change what was checked.  Nobody else may use
// the module meanwhile.
void inline_forks(const torch::jit::Module &module);

// Calls forward().  Tasks that are left run at once on this thread; otherwise they would outlive a
// run that fails.
c10::IValue run_forward(const torch::jit::Module &module, const torch::jit::Kwargs &arguments);

} // namespace engine_torch
