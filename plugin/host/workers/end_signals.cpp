// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "end_signals.h"

#include "base/blocked_signals.h"
#include "held_signals.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <mutex>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;

// The handler reads this, so it is plain, never destroyed, and written before the handler is set.
struct Watched {
    int number;
    struct sigaction program = {}; // the program's action
    bool is_known = false;         // `program` is set
};

Watched watched[] = {{SIGINT}, {SIGTERM}, {SIGQUIT}, {SIGXCPU}};
std::mutex mutex; // serialises the setting of handlers
std::atomic<int64_t> last_ns{std::numeric_limits<int64_t>::min()};

// steady_clock::now() is not among the functions that a handler may call.
void record_time()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    last_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void handle(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    record_time();
    errno = error;
    for (const Watched &each : watched) {
        if (each.number != number)
            continue;
        if (each.program.sa_flags & SA_SIGINFO)
            each.program.sa_sigaction(number, info, context);
        else
            each.program.sa_handler(number);
    }
}

bool is_ours(const struct sigaction &action)
{
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == handle;
}

bool have_same_handler(const struct sigaction &a, const struct sigaction &b)
{
    const bool with_info = a.sa_flags & SA_SIGINFO;
    if (with_info != static_cast<bool>(b.sa_flags & SA_SIGINFO))
        return false;
    return with_info ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

// Keeps mask and flags, so that system calls are interrupted, or not, as before.
void install_handler(Watched &signal)
{
    struct sigaction now = {}, met = {};
    if (sigaction(signal.number, nullptr, &now) != 0 || is_ours(now) || !is_handled(now) ||
        is_held_back(now))
        return;
    if (signal.is_known && !have_same_handler(signal.program, now))
        return;
    signal.program = now;
    signal.is_known = true;
    struct sigaction ours = now;
    ours.sa_sigaction = handle;
    ours.sa_flags |= SA_SIGINFO;
    if (sigaction(signal.number, &ours, &met) == 0 && !have_same_handler(met, now))
        sigaction(signal.number, &met, nullptr); // the program set another one meanwhile
}

} // namespace

EndSignals::EndSignals() noexcept : since_(Clock::now() - memory)
{
    watch();
}

void EndSignals::watch() noexcept
{
    BlockedSignals blocked; // a handler may come here again
    const std::lock_guard lock(mutex);
    for (Watched &signal : watched)
        install_handler(signal);
}

bool EndSignals::came() const noexcept
{
    return last_ns > std::chrono::nanoseconds(since_.time_since_epoch()).count();
}

} // namespace dnn_torch
