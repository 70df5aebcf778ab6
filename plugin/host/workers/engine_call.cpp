// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine_call.h"

#include "base/blocked_signals.h"
#include "held_signals.h"
#include "host/error.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr int moments = 100; // of a millisecond each, in which calls may end by themselves

// Plain and never destroyed: exit() may run in a signal handler.
std::atomic<int> calls_under_way{0};
std::atomic<unsigned long> calls_so_far{0};
std::atomic<bool> exiting{false};

void wait_a_moment()
{
    const timespec millisecond = {0, 1000000};
    nanosleep(&millisecond, nullptr);
}

// A computing thread may lock a stream for ever, if it prints into a full pipe.
bool can_be_flushed(FILE *stream)
{
    for (int i = 0; i < moments; i++) {
        if (ftrylockfile(stream) == 0) {
            funlockfile(stream);
            return true;
        }
        wait_a_moment();
    }
    return false;
}

void end_despite_calls(int status, void *) noexcept
{
    BlockedSignals blocked;
    leave_at_signals(status);
    exiting = true;
    for (int i = 0; i < moments && calls_under_way; i++)
        wait_a_moment();
    if (!calls_under_way)
        return;
    if (can_be_flushed(stdout) && can_be_flushed(stderr))
        fflush(nullptr);
    _exit(status);
}

// A forked child has only the thread that forked: the calls of all others are gone.
void forget_calls() noexcept
{
    calls_under_way = 0;
}

// Keeps this library from being unloaded: exit() and abandoned threads run its code.
bool stay_loaded()
{
    Dl_info here;
    if (dladdr(reinterpret_cast<const void *>(&end_despite_calls), &here))
        dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return pthread_atfork(nullptr, nullptr, forget_calls) == 0;
}

// LibTorch registers most of its late handlers in its first runs.  After them, calls go on without
// end and must not fill exit()'s list.
bool is_worth_registering(unsigned long call)
{
    constexpr unsigned long first_calls = 64;
    return call < first_calls || (call & (call - 1)) == 0;
}

} // namespace

void watch_exit() noexcept
{
    // A signal handler that calls exit() while this thread holds exit()'s lock would deadlock.
    BlockedSignals blocked;
    static const bool stays = stay_loaded();
    static_cast<void>(stays);
    on_exit(end_despite_calls, nullptr);
}

EngineCall::EngineCall()
{
    if (is_worth_registering(calls_so_far++))
        watch_exit();
    calls_under_way++;
    if (exiting) {
        calls_under_way--;
        throw Error(-ECANCELED, "the program ends");
    }
}

EngineCall::~EngineCall()
{
    calls_under_way--;
}

} // namespace dnn_torch
