// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "background.h"

#include "base/blocked_signals.h"
#include "engine_call.h"
#include "host/error.h"

#include <cerrno>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>

namespace dnn_torch
{

// Shared with the thread, which may outlive the Background.
struct Background::Run {
    std::function<void()> work;

    std::mutex mutex;
    std::condition_variable changed;
    // ---- under the mutex ----
    bool is_done = false;
    std::exception_ptr failure;
};

void Background::perform(const std::shared_ptr<Run> &run)
{
    std::exception_ptr failure;
    try {
        run->work();
    } catch (...) {
        failure = std::current_exception();
    }
    // Frees what the work owns before is_done() becomes true.
    run->work = nullptr;
    std::lock_guard lock(run->mutex);
    run->failure = failure;
    run->is_done = true;
    run->changed.notify_all();
}

Background::Background(std::function<void()> work) : run_(std::make_shared<Run>())
{
    run_->work = std::move(work);
    BlockedSignals blocked;
    try {
        thread_ = std::thread([run = run_] { perform(run); });
        pthread_setname_np(thread_.native_handle(), "dnn_torch:model");
    } catch (const std::system_error &error) {
        throw Error(-ENOMEM, std::string("cannot start a thread: ") + error.what() +
                                 "; raise what limits threads or memory (ulimit -u, ulimit -v)");
    }
}

Background::~Background()
{
    if (!thread_.joinable())
        return;
    if (is_done()) {
        thread_.join();
        return;
    }
    thread_.detach();
    watch_exit();
}

bool Background::is_done() const
{
    std::lock_guard lock(run_->mutex);
    return run_->is_done;
}

bool Background::wait_for(std::chrono::steady_clock::duration most) const
{
    std::unique_lock lock(run_->mutex);
    return run_->changed.wait_for(lock, most, [this] { return run_->is_done; });
}

void Background::finish()
{
    thread_.join();
    if (run_->failure)
        std::rethrow_exception(run_->failure);
}

} // namespace dnn_torch
