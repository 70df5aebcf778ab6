// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time_limit.h"

#include "blocked_signals.h"
#include "engine_call.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace dnn_torch
{
namespace
{

// Shared with the thread, which may outlive everybody else.
struct Run {
    std::function<void()> work;

    std::mutex mutex;
    std::condition_variable changed;
    // ---- under the mutex ----
    bool done = false;
    std::exception_ptr failure;
};

void perform(const std::shared_ptr<Run> &run)
{
    std::exception_ptr failure;
    try {
        run->work();
    } catch (...) {
        failure = std::current_exception();
    }
    // What it owns goes before anybody is told, unless nobody waits any more.
    run->work = nullptr;
    std::lock_guard lock(run->mutex);
    run->failure = failure;
    run->done = true;
    run->changed.notify_all();
}

std::thread start(const std::shared_ptr<Run> &run)
{
    BlockedSignals blocked;
    try {
        std::thread thread([run] { perform(run); });
        pthread_setname_np(thread.native_handle(), "dnn_torch:model");
        return thread;
    } catch (const std::system_error &error) {
        throw Error(-ENOMEM, std::string("cannot start a thread: ") + error.what() +
                                 "; raise what limits threads or memory (ulimit -u, ulimit -v)");
    }
}

using Clock = std::chrono::steady_clock;

// The work may register for exit() all the while.  More seldom as time passes, so
// that the look at exit() is registered some hundred times in an hour.
Clock::duration until_next_look(Clock::duration waited)
{
    return std::max<Clock::duration>(waited / 32, std::chrono::milliseconds(20));
}

bool wait_for(Run &run, std::chrono::microseconds most)
{
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(run.mutex);
    for (;;) {
        Clock::duration waited = Clock::now() - start, next = until_next_look(waited);
        if (most.count() != 0)
            next = std::min<Clock::duration>(next, most - waited);
        if (run.changed.wait_for(lock, next, [&] { return run.done; }))
            return true;
        if (most.count() != 0 && Clock::now() - start >= most)
            return false;
        watch_exit();
    }
}

} // namespace

void run_within(const TimeLimit &limit, std::function<void()> work)
{
    auto run = std::make_shared<Run>();
    run->work = std::move(work);
    std::thread thread = start(run);
    if (!wait_for(*run, limit.most)) {
        thread.detach();
        watch_exit();
        throw Error(-ETIMEDOUT, limit.line);
    }
    thread.join();
    if (run->failure)
        std::rethrow_exception(run->failure);
}

std::string in_seconds(std::chrono::microseconds time)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g s", static_cast<double>(time.count()) / 1e6);
    return text;
}

} // namespace dnn_torch
