// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time_limit.h"

#include "background.h"
#include "end_signals.h"
#include "engine_call.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;

constexpr Clock::duration poll_interval = std::chrono::milliseconds(20);

// The innermost objects on this thread.
thread_local LongWait *listener = nullptr;
thread_local const std::string *doing = nullptr;

// The work may register handlers of exit() at any time, so watch_exit() is called repeatedly.  It
// is called less often as time passes: some hundred times in an hour.
Clock::duration until_next_watch(Clock::duration waited)
{
    return std::max<Clock::duration>(waited / 32, poll_interval);
}

void check(const EndSignals &signals)
{
    if (signals.came())
        throw Error(-ECANCELED, "the program was asked to end");
}

void wait_for(const Background &work, const TimeLimit &limit, const EndSignals &signals)
{
    const Clock::time_point start = Clock::now();
    Clock::duration watched{0};
    for (;;) {
        Clock::duration next = poll_interval, waited = Clock::now() - start;
        if (limit.most.count() != 0)
            next = std::min<Clock::duration>(next, limit.most - waited);
        if (work.wait_for(next))
            return;
        check(signals);
        waited = Clock::now() - start;
        if (limit.most.count() != 0 && waited >= limit.most)
            throw Error(-ETIMEDOUT, limit.line);
        if (listener && doing)
            listener->note(*doing);
        if (waited - watched < until_next_watch(watched))
            continue;
        watched = waited;
        watch_exit();
    }
}

} // namespace

LongWait::LongWait(Notify notify, std::chrono::milliseconds very_long)
    : notify_(std::move(notify)), very_long_(very_long), start_(Clock::now()),
      outer_(std::exchange(listener, this))
{
}

LongWait::~LongWait()
{
    listener = outer_;
}

NowDoing::NowDoing(std::string what) : what_(std::move(what)), outer_(std::exchange(doing, &what_))
{
}

NowDoing::~NowDoing()
{
    doing = outer_;
}

void LongWait::note(const std::string &doing)
{
    constexpr std::chrono::seconds long_time(1);
    const Clock::time_point now = Clock::now();
    if (doing != doing_) {
        doing_ = doing;
        began_ = now;
    }
    const bool is_long = told_.empty() ? now - start_ >= long_time : now - began_ >= very_long_;
    if (!is_long || doing == told_)
        return;
    told_ = doing;
    notify_(doing);
}

void run_within(const TimeLimit &limit, std::function<void()> work)
{
    const EndSignals signals;
    check(signals); // after a signal, begins nothing that would still run at exit()
    Background background(std::move(work));
    wait_for(background, limit, signals);
    background.finish();
}

std::string in_seconds(std::chrono::microseconds time)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g s", static_cast<double>(time.count()) / 1e6);
    return text;
}

} // namespace dnn_torch
