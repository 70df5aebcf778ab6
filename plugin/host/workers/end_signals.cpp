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

// What the handler reads is plain and never destroyed, and is written before the handler is set.
struct Watched {
    int number;
    struct sigaction program = {}; // what the program has set
    bool is_known = false;         // that was found
};

Watched watched[] = {{SIGINT}, {SIGTERM}, {SIGQUIT}, {SIGXCPU}};
std::mutex mutex; // for who sets handlers
std::atomic<int64_t> last_ns{std::numeric_limits<int64_t>::min()};

// steady_clock's own function is not among those that a handler may call.
void note_time()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    last_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    note_time();
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
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == note;
}

bool have_one_handler(const struct sigaction &a, const struct sigaction &b)
{
    const bool with_info = a.sa_flags & SA_SIGINFO;
    if (with_info != static_cast<bool>(b.sa_flags & SA_SIGINFO))
        return false;
    return with_info ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

// Masks and flags stay, so that system calls are interrupted, or are not, as before.
void stand_before_program(Watched &signal)
{
    struct sigaction now = {}, met = {};
    if (sigaction(signal.number, nullptr, &now) != 0 || is_ours(now) || !is_handled(now) ||
        is_held_back(now))
        return;
    if (signal.is_known && !have_one_handler(signal.program, now))
        return;
    signal.program = now;
    signal.is_known = true;
    struct sigaction noting = now;
    noting.sa_sigaction = note;
    noting.sa_flags |= SA_SIGINFO;
    if (sigaction(signal.number, &noting, &met) == 0 && !have_one_handler(met, now))
        sigaction(signal.number, &met, nullptr); // the program was quicker
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
        stand_before_program(signal);
}

bool EndSignals::came() const noexcept
{
    return last_ns > std::chrono::nanoseconds(since_.time_since_epoch()).count();
}

} // namespace dnn_torch
