// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "run_scope.h"

#include "blas.h"

#include <ATen/Parallel.h>

namespace engine_torch
{

void use_threads(int threads)
{
    // Asking first also makes LibTorch set up the thread now.  It would otherwise do so later and
    // undo this setting.
    if (at::get_num_threads() != threads)
        at::set_num_threads(threads);
}

ThreadsScope::ThreadsScope(int threads) : before_(at::get_num_threads())
{
    use_threads(threads);
}

ThreadsScope::~ThreadsScope()
{
    use_threads(before_);
}

RunScope::RunScope(const c10::Device &device)
    : alone_(device.is_cpu() ? alone_with_blas() : std::unique_lock<std::mutex>())
{
    if (alone_)
        one_thread_.emplace(1);
}

} // namespace engine_torch
