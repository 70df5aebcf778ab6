// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "run_scope.h"

#include "base/blocked_signals.h"
#include "base/compose.h"
#include "blas.h"
#include "engine_kit/failure.h"

#include <ATen/Parallel.h>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

namespace engine_torch
{
namespace
{

// LibTorch starts that many threads less one, and waits for ever for those that do not start, as
// where memory or the number of threads is limited.
bool can_start(int threads)
{
    const dnn_torch::BlockedSignals blocked;
    std::latch all_started(1);
    std::vector<std::thread> started;
    bool could = true;
    try {
        for (int i = 1; i < threads; i++)
            started.emplace_back([&] { all_started.wait(); });
    } catch (const std::system_error &) {
        could = false;
    }
    all_started.count_down();
    for (std::thread &each : started)
        each.join();
    return could;
}

} // namespace

void use_threads(int threads)
{
    // Asking first also makes LibTorch set up the thread now.  It would otherwise do so later and
    // undo this setting.
    if (at::get_num_threads() == threads)
        return;
    if (!can_start(threads))
        throw engine_kit::Failure(
            DNN_TORCH_OUT_OF_MEMORY,
            dnn_torch::concat("the model cannot start ", threads,
                              " threads; lower threads, or raise "
                              "what limits threads or memory (ulimit -u, ulimit -v)"));
    at::set_num_threads(threads);
}

ThreadsScope::ThreadsScope(int threads) : before_(at::get_num_threads())
{
    use_threads(threads);
}

ThreadsScope::~ThreadsScope()
{
    if (at::get_num_threads() != before_ && can_start(before_))
        at::set_num_threads(before_);
}

RunScope::RunScope(const c10::Device &device)
    : alone_(device.is_cpu() ? alone_with_blas() : std::unique_lock<std::mutex>())
{
    if (alone_)
        one_thread_.emplace(1);
}

} // namespace engine_torch
