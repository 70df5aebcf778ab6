// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/filters/deadlines.h"

#include <cmath>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;
using Time = Deadlines::Time;

namespace
{

constexpr Time start = Time{} + 1h;

Deadlines with_limit(Clock::duration limit, Late late = Late::pass)
{
    return Deadlines({.limit = limit, .late = late});
}

TEST(Deadlines, AFrameIsDueShortlyBeforeItsDeadline)
{
    EXPECT_EQ(with_limit(40ms).due(start), start + 38ms);
    EXPECT_EQ(with_limit(1s).due(start), start + 998ms);
    EXPECT_EQ(with_limit(10ms).due(start), start + 9500us);
    EXPECT_FALSE(with_limit(0ms).any());
}

TEST(Deadlines, WaitsUntilTheNextFrameIsExpected)
{
    Deadlines deadlines = with_limit(100ms);
    deadlines.came(start, 10.0);
    EXPECT_EQ(deadlines.wait_until(start, false), start + 98ms) << "the interval is not known";
    deadlines.came(start + 50ms, 10.040);
    EXPECT_EQ(deadlines.wait_until(start + 50ms, false), start + 90ms);
    EXPECT_EQ(deadlines.wait_until(start, false), start + 90ms);
    EXPECT_EQ(deadlines.wait_until(start - 20ms, false), start + 78ms) << "that is due earlier";
    EXPECT_EQ(deadlines.wait_until(start + 50ms, true), start + 148ms) << "none can come";
}

TEST(Deadlines, TimestampsThatJumpOrLackKeepTheInterval)
{
    Deadlines deadlines = with_limit(500ms);
    for (const double seconds : std::vector<double>{0, 0.040, 0, NAN, 1e9, 3})
        deadlines.came(start, seconds);
    EXPECT_EQ(deadlines.wait_until(start, false), start + 40ms);
}

TEST(Deadlines, BeginsNothingThatWouldBeTooLate)
{
    Deadlines deadlines = with_limit(40ms);
    EXPECT_EQ(deadlines.begin_by(start), start + 38ms) << "no run has shown how long it takes";
    deadlines.ran(0.010);
    EXPECT_EQ(deadlines.begin_by(start), start + 28ms);
    deadlines.ran(0.050);
    EXPECT_EQ(deadlines.begin_by(start), start + 18ms) << "20 ms";
}

TEST(Deadlines, TriesAgainAfterAStall)
{
    Deadlines deadlines = with_limit(100ms);
    deadlines.ran(1);
    int skipped = 0;
    for (; deadlines.begin_by(start) < start; skipped++)
        deadlines.was_not_begun();
    EXPECT_GT(skipped, 0);
    EXPECT_LT(skipped, 25) << "a second at 25 fps";
}

TEST(Deadlines, WithLastALateRunServesLaterFrames)
{
    Deadlines deadlines = with_limit(40ms, Late::last);
    deadlines.ran(0.5);
    EXPECT_EQ(deadlines.begin_by(start), deadlines.due(start));
}

TEST(Deadlines, HoldsTheFramesThatComeWithinTheDeadline)
{
    EXPECT_EQ(with_limit(40ms).most_frames(25), 2U);
    EXPECT_EQ(with_limit(1s).most_frames(25), 26U);
    EXPECT_EQ(with_limit(1s).most_frames(0), 61U);
    EXPECT_EQ(with_limit(10min).most_frames(60), 1024U);
}

// ---- a filter with one worker, on a clock of the test's own ----

struct Stream {
    int frames = 2000;
    Clock::duration interval = 40ms, limit = 40ms;
    Late late = Late::pass;
    int shortest_ms = 5, longest_ms = 30, stall_every = 0; // of runs; a stall takes 0.5 s
};

struct Played {
    size_t on_time = 0, late = 0, not_begun = 0;
    Clock::duration longest{0}; // from arrival to departure
};

// Runs are taken in order, each when the worker is free, as the pool does.
Played play(const Stream &stream)
{
    std::minstd_rand random(7);
    Deadlines deadlines({.limit = stream.limit, .late = stream.late});
    Played played;
    Time free = start;
    for (int number = 0; number < stream.frames; number++) {
        const Time arrival = start + number * stream.interval;
        deadlines.came(arrival, std::chrono::duration<double>(number * stream.interval).count());
        const Time begin = std::max(arrival, free);
        if (begin > deadlines.begin_by(arrival)) {
            deadlines.was_not_begun();
            played.not_begun++;
            played.late++;
            continue;
        }
        const auto spread = static_cast<unsigned>(stream.longest_ms - stream.shortest_ms + 1);
        Clock::duration run =
            std::chrono::milliseconds(stream.shortest_ms + static_cast<int>(random() % spread));
        if (stream.stall_every != 0 && number % stream.stall_every == 0)
            run = 500ms;
        free = begin + run;
        deadlines.ran(std::chrono::duration<double>(run).count());
        const Time leaves = std::min(free, deadlines.due(arrival));
        played.longest = std::max(played.longest, leaves - arrival);
        (free <= deadlines.due(arrival) ? played.on_time : played.late)++;
    }
    return played;
}

TEST(Deadlines, AModelThatIsFastEnoughIsOnTime)
{
    const Played played = play({});
    EXPECT_EQ(played.on_time, 2000U);
    EXPECT_LE(played.longest, 38ms);
}

// 30 ms of work each 20 ms: the worker ends two frames of three.
TEST(Deadlines, AModelThatIsTooSlowEndsAsManyAsItCan)
{
    const Played played =
        play({.interval = 20ms, .limit = 100ms, .shortest_ms = 30, .longest_ms = 30});
    EXPECT_GE(played.on_time, 1300U);
    EXPECT_LE(played.longest, 98ms);
}

TEST(Deadlines, StallsCostOnlyTheFramesThatTheyHoldUp)
{
    const Played played = play({.stall_every = 100});
    EXPECT_LE(played.late, 20U * 30U) << "0.5 s are 13 frames, and some until it tries again";
    EXPECT_GE(played.on_time, 1400U);
    EXPECT_LE(played.longest, 40ms);
}

TEST(Deadlines, TheSameTimesGiveTheSameFrames)
{
    const Stream stream = {.limit = 25ms, .shortest_ms = 5, .longest_ms = 80, .stall_every = 37};
    const Played one = play(stream), other = play(stream);
    EXPECT_EQ(one.on_time, other.on_time);
    EXPECT_EQ(one.not_begun, other.not_begun);
    EXPECT_GT(one.late, 0U);
}

} // namespace
