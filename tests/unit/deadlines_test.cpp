// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/filters/chosen_every.h"
#include "host/filters/deadlines.h"
#include "host/filters/latency_goal.h"

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

// With only its deadline to wait for, the filter would take a frame each 98 ms.
TEST(Deadlines, WithoutTimestampsTheRateTellsWhenAFrameIsExpected)
{
    Deadlines deadlines = with_limit(100ms);
    deadlines.came(start, NAN);
    deadlines.came(start + 40ms, NAN);
    EXPECT_LT(deadlines.wait_until(start + 40ms, false), start + 57ms) << "a usual one";
    deadlines.expect(25);
    EXPECT_EQ(deadlines.wait_until(start + 40ms, false), start + 80ms);
    EXPECT_EQ(deadlines.interval(), 0.040);
    deadlines.came(start + 80ms, 1);
    deadlines.came(start + 120ms, 1.020);
    EXPECT_EQ(deadlines.wait_until(start + 120ms, false), start + 140ms)
        << "timestamps know better";
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
    EXPECT_LT(deadlines.yields_after(start), start) << "a newer frame's run is worth more";
    for (int skipped = 0; skipped < 5; skipped++)
        deadlines.was_not_begun();
    EXPECT_EQ(deadlines.yields_after(start), deadlines.due(start) - 500ms) << "that one is begun";
}

TEST(Deadlines, HoldsTheFramesThatComeWithinTheDeadline)
{
    const auto most_frames = [](Clock::duration limit, double frames_per_second) {
        Deadlines deadlines = with_limit(limit);
        deadlines.expect(frames_per_second);
        return deadlines.most_frames();
    };
    EXPECT_EQ(most_frames(40ms, 25), 2U);
    EXPECT_EQ(most_frames(1s, 25), 26U);
    EXPECT_EQ(most_frames(1s, 0), 61U);
    EXPECT_EQ(most_frames(10min, 60), 1024U);
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

// ---- every=auto ----

// Returns N after that many runs, each as long as `run` says for N and the run's number, and how
// often it changed.
struct Chosen {
    int every = 1;
    size_t changes = 0;
};

template <class Run> Chosen choose(int runs, const Run &run, size_t workers = 1)
{
    ChosenEvery chosen;
    Chosen result;
    for (int number = 0; number < runs; number++) {
        for (int frame = 0; frame < chosen.every(); frame++)
            chosen.came(0.040);
        result.changes += chosen.ran(run(chosen.every(), number), workers);
    }
    result.every = chosen.every();
    return result;
}

auto always(double seconds)
{
    return [seconds](int, int) { return seconds; };
}

TEST(ChosenEvery, IsTheSmallestThatWorkersKeepUpWith)
{
    EXPECT_EQ(choose(100, always(0.005)).every, 1);
    EXPECT_EQ(choose(100, always(0.037)).every, 1);
    EXPECT_EQ(choose(100, always(0.042)).every, 2);
    EXPECT_EQ(choose(100, always(0.200)).every, 6);
    EXPECT_EQ(choose(100, always(0.200), 2).every, 3);
    EXPECT_EQ(choose(100, always(0.200)).changes, 1U);
    EXPECT_EQ(choose(100, always(1e6)).every, 1000) << "nothing is so slow, but clocks jump";
    EXPECT_EQ(choose(2, always(0.200)).every, 1) << "the first runs say little";
}

TEST(ChosenEvery, StaysWhileRunsVary)
{
    std::minstd_rand random(7);
    const auto varies = [&](int, int) {
        return 0.070 + 0.0001 * static_cast<double>(random() % 100);
    };
    const Chosen chosen = choose(5000, varies);
    EXPECT_EQ(chosen.every, 3) << "70 to 80 ms: two intervals, which is too close for some";
    EXPECT_LE(chosen.changes, 2U) << "the first three runs may have been short";
    const auto stalls = [](int, int number) { return number % 20 == 0 ? 0.5 : 0.020; };
    EXPECT_EQ(choose(5000, stalls).every, 1);
    EXPECT_EQ(choose(5000, stalls).changes, 0U);
}

TEST(ChosenEvery, FollowsTheLoadOfTheMachine)
{
    const auto load = [](int, int number) { return number < 100 || number >= 200 ? 0.030 : 0.090; };
    EXPECT_EQ(choose(100, load).every, 1);
    EXPECT_EQ(choose(106, load).every, 3);
    EXPECT_EQ(choose(200, load).every, 3);
    EXPECT_EQ(choose(260, load).every, 1);
    EXPECT_EQ(choose(5000, load).changes, 2U);
}

// Runs of each frame compete, and those of every second one do not.
TEST(ChosenEvery, TriesLessOftenWhatFailed)
{
    const auto competes = [](int every, int) { return every == 1 ? 0.060 : 0.030; };
    const Chosen chosen = choose(10000, competes);
    EXPECT_GE(chosen.changes, 3U);
    EXPECT_LE(chosen.changes, 1U + 2U * 14U) << "10000 runs: 14 tries, after 16, 32 to 1024";
}

TEST(ChosenEvery, TimestampsThatJumpChangeNothing)
{
    ChosenEvery chosen;
    size_t changes = 0;
    for (int number = 0; number < 500; number++) {
        chosen.came(number % 10 == 0 ? 3000 : 0.040);
        changes += chosen.ran(0.030, 1);
    }
    EXPECT_EQ(changes, 0U);
}

TEST(ChosenEvery, KnowsNothingWithoutTimes)
{
    ChosenEvery chosen;
    for (int number = 0; number < 50; number++)
        EXPECT_FALSE(chosen.ran(10, 1));
}

// ---- goal=latency ----

const std::vector<RunTime> four_cores = {{4, 0.020}, {2, 0.030}, {1, 0.050}};

TEST(LatencyGoal, TheFastestThreadsMakeFramesOneByOne)
{
    const LatencyChoice choice = choose_for_latency({}, four_cores, 0.040);
    EXPECT_EQ(choice.cores.workers, 1U);
    EXPECT_EQ(choice.cores.threads, 4U);
    EXPECT_EQ(choice.cores.in_flight, 1U);
    EXPECT_TRUE(choice.one_at_a_time);
    EXPECT_EQ(choice.note, "a frame takes 20.0 ms with 4 threads, 30.0 ms with 2 threads, 50.0 ms "
                           "with 1 thread; frames are made one by one");
    EXPECT_EQ(choose_for_latency({}, {{2, 0.003}, {1, 0.002}}, 0.040).cores.threads, 1U)
        << "threads of a cheap run wait for each other";
}

TEST(LatencyGoal, FramesThatBarelyFitInMayWaitForEachOther)
{
    const LatencyChoice choice = choose_for_latency({}, four_cores, 0.022);
    EXPECT_EQ(choice.cores.workers, 1U);
    EXPECT_EQ(choice.cores.in_flight, 0U);
    EXPECT_FALSE(choice.one_at_a_time);
    EXPECT_FALSE(choose_for_latency({}, four_cores, 0).one_at_a_time) << "no rate is known";
}

TEST(LatencyGoal, AModelThatIsTooSlowGetsWorkers)
{
    const LatencyChoice choice = choose_for_latency({}, four_cores, 0.010);
    EXPECT_EQ(choice.cores.workers, 0U);
    EXPECT_EQ(choice.cores.threads, 0U);
    EXPECT_FALSE(choice.one_at_a_time);
}

TEST(LatencyGoal, WhatTheUserGivesStays)
{
    const LatencyChoice choice =
        choose_for_latency({.workers = 2, .threads = 1, .in_flight = 3}, four_cores, 0.040);
    EXPECT_EQ(choice.cores.workers, 2U);
    EXPECT_EQ(choice.cores.threads, 1U);
    EXPECT_EQ(choice.cores.in_flight, 3U);
    EXPECT_FALSE(choice.one_at_a_time);
}

TEST(LatencyGoal, WhatCannotBeMeasuredGetsOneWorker)
{
    const LatencyChoice choice = choose_for_latency({}, {}, 0.040);
    EXPECT_EQ(choice.cores.workers, 1U);
    EXPECT_EQ(choice.cores.threads, 0U);
    EXPECT_EQ(choice.note, "");
}

} // namespace
