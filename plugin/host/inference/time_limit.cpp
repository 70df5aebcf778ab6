// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time_limit.h"

#include "background.h"
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

// The work may register for exit() all the while, so watch_exit() is called again and
// again.  It is called less often as time passes: some hundred times in an hour.
Clock::duration until_next_look(Clock::duration waited)
{
    return std::max<Clock::duration>(waited / 32, std::chrono::milliseconds(20));
}

bool wait_for(const Background &work, std::chrono::microseconds most)
{
    const Clock::time_point start = Clock::now();
    for (;;) {
        Clock::duration waited = Clock::now() - start, next = until_next_look(waited);
        if (most.count() != 0)
            next = std::min<Clock::duration>(next, most - waited);
        if (work.wait_for(next))
            return true;
        if (most.count() != 0 && Clock::now() - start >= most)
            return false;
        watch_exit();
    }
}

} // namespace

void run_within(const TimeLimit &limit, std::function<void()> work)
{
    Background background(std::move(work));
    if (!wait_for(background, limit.most))
        throw Error(-ETIMEDOUT, limit.line);
    background.finish();
}

std::string in_seconds(std::chrono::microseconds time)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g s", static_cast<double>(time.count()) / 1e6);
    return text;
}

} // namespace dnn_torch
