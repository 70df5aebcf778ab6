// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames that leave without the model's result.  The model inverts them, so that a sample tells
// where it comes from.
#include "filter_graph.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace
{

const std::string inverts = "gain -1\noffset 1\n", slow = "latency_us 150000\n";

struct Passed {
    std::vector<int> samples;
    int end = 0;
    Clock::duration longest{0}; // that a frame took
    std::string stats;
};

// Sends a frame each `interval`, and takes what comes out.
Passed run(const std::string &script, const std::string &options, int count,
           Clock::duration interval = 0ms)
{
    Graph graph(inverts + script, "threads=1:workers=1:tune=0:" + options);
    EXPECT_EQ(graph.status(), 0);
    Passed run;
    const auto receive = [&] {
        int sample = 0;
        while ((run.end = graph.receive_sample(sample)) >= 0)
            run.samples.push_back(sample);
        return run.end == AVERROR(EAGAIN);
    };
    for (int number = 0; number < count; number++) {
        const Clock::time_point arrival = Clock::now();
        if ((run.end = graph.send(number)) < 0 || !receive())
            return run;
        if (number != 0) // the first one waits for its plan
            run.longest = std::max(run.longest, Clock::now() - arrival);
        std::this_thread::sleep_until(arrival + interval);
    }
    if ((run.end = graph.end()) >= 0)
        receive();
    run.stats = graph.command("stats");
    return run;
}

std::string logged;

void keep_log(void *, int level, const char *format, va_list arguments)
{
    char line[256] = "";
    vsnprintf(line, sizeof line, format, arguments);
    if (level <= AV_LOG_INFO)
        logged += line;
}

// As run(), with what is logged meanwhile in `logged`.
Passed run_and_log(const std::string &script, const std::string &options, int count,
                   Clock::duration interval = 0ms)
{
    logged.clear();
    av_log_set_callback(keep_log);
    const Passed made = run(script, options, count, interval);
    av_log_set_callback(av_log_default_callback);
    return made;
}

int times_logged(const std::string &words)
{
    int times = 0;
    for (size_t at = logged.find(words); at != logged.npos; at = logged.find(words, at + 1))
        times++;
    return times;
}

TEST(FilterDeadline, ItsFirstLateFrameIsWarnedOf)
{
    for (const auto &[script, warnings] : {std::pair(slow, 1), {"", 0}}) {
        run_and_log(script, "deadline=0.05", 4);
        EXPECT_EQ(times_logged("had no result at its deadline"), warnings);
    }
}

bool has(const Passed &run, const std::string &part)
{
    return run.stats.find(part) != std::string::npos;
}

int inverted(int number)
{
    return 255 - number;
}

std::vector<int> numbers(int count, int (*sample_of)(int))
{
    std::vector<int> samples;
    for (int number = 0; number < count; number++)
        samples.push_back(sample_of(number));
    return samples;
}

TEST(FilterDeadline, AFastModelMakesEachFrame)
{
    for (const char *async : {"async=1", "async=0"}) {
        const Passed made =
            run("latency_us 2000\n", std::string("deadline=5:late=drop:") + async, 20);
        EXPECT_EQ(made.samples, numbers(20, inverted));
        EXPECT_EQ(made.end, AVERROR_EOF);
        EXPECT_TRUE(has(made, "\"missed\":0,\"pass\":0,\"last\":0,\"drop\":0,\"hide\":0"))
            << made.stats;
    }
}

TEST(FilterDeadline, ALateFramePassesWhenItIsDue)
{
    const Passed made = run(slow, "deadline=0.03", 12);
    EXPECT_EQ(made.samples, numbers(12, [](int number) { return number; }));
    EXPECT_EQ(made.end, AVERROR_EOF);
    EXPECT_LT(made.longest, 140ms) << "the model takes 150 ms";
    EXPECT_TRUE(has(made, "\"pass\":12,")) << made.stats;
}

TEST(FilterDeadline, ALateFrameIsDropped)
{
    const Passed made = run(slow, "deadline=0.02:late=drop", 8);
    EXPECT_EQ(made.samples, std::vector<int>{});
    EXPECT_EQ(made.end, AVERROR_EOF);
    EXPECT_TRUE(has(made, "\"drop\":8,")) << made.stats;
}

TEST(FilterDeadline, ALateFrameIsHidden)
{
    const Passed made = run(slow, "deadline=0.02:late=hide", 8);
    EXPECT_EQ(made.samples, std::vector<int>(8, 0));
    EXPECT_TRUE(has(made, "\"hide\":8}") || has(made, "\"hide\":8,")) << made.stats;
}

TEST(FilterDeadline, ALateFrameGetsTheLastResult)
{
    const Passed made = run("latency_us 50000\n", "deadline=0.02:late=last", 30, 20ms);
    ASSERT_EQ(made.samples.size(), 30U);
    EXPECT_EQ(made.samples[0], 0) << "there is none yet";
    int latest = -1, reused = 0;
    for (int number = 0; number < 30; number++) {
        const int sample = made.samples[static_cast<size_t>(number)];
        if (sample == number && latest < 0)
            continue;
        EXPECT_LE(inverted(sample), number);
        EXPECT_GE(inverted(sample), latest) << "results grow no older";
        latest = inverted(sample);
        reused++;
    }
    EXPECT_GT(reused, 10);
}

TEST(FilterDeadline, AHiddenFrameIsBlurredIfThatIsWanted)
{
    // A frame of one colour is its own average.
    const Passed made = run(slow, "deadline=0.02:late=hide:hide_with=blur", 8);
    EXPECT_EQ(made.samples, numbers(8, [](int number) { return number; }));
    EXPECT_TRUE(has(made, "\"hide\":8,")) << made.stats;
}

// The model sees none of these frames.
TEST(FilterDeadline, HidesAllThatTheModelHasNotSeen)
{
    EXPECT_EQ(run("", "late=hide:strength=0", 5).samples, std::vector<int>(5, 0));
    const Passed made = run("nan_at 3\n", "late=hide:deadline=5", 5);
    EXPECT_EQ(made.samples, (std::vector<int>{255, 254, 253, 0, 251}));
    EXPECT_TRUE(has(made, "\"hide\":1,")) << made.stats;
}

TEST(FilterDeadline, StrengthShowsNoHiddenFrame)
{
    Graph graph(inverts, "threads=1:late=hide");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.command("strength", "0.5"), "status " + std::to_string(AVERROR(EINVAL)));
    EXPECT_EQ(graph.command("strength", "1"), "");
}

TEST(FilterDeadline, AFailureOfALateFrameIsAFailure)
{
    const Passed made = run("latency_us 30000\nfail_at 2\n", "deadline=0.02:late=last", 60, 40ms);
    EXPECT_EQ(made.end, AVERROR_EXTERNAL);
    EXPECT_LT(made.samples.size(), 59U);
}

TEST(FilterDeadline, AModelThatNeverComesBackRunsOutOfTime)
{
    const Passed made = run("hang_at 2\n", "deadline=0.02:timeout=1", 200, 20ms);
    EXPECT_EQ(made.end, AVERROR(ETIMEDOUT));
    EXPECT_GT(made.samples.size(), 20U) << "frames pass meanwhile";
    EXPECT_LT(made.samples.size(), 190U);
}

TEST(FilterDeadline, ALongDeadlineIsNoTimeLimit)
{
    const Passed made = run("hang_at 2\n", "deadline=30:timeout=1", 5);
    EXPECT_EQ(made.end, AVERROR(ETIMEDOUT));
    EXPECT_EQ(made.samples, (std::vector<int>{255, 254}));
}

TEST(FilterDeadline, TheModelGetsEachNthFrame)
{
    for (const char *deadline : {"", ":deadline=5"}) {
        const Passed made = run("", std::string("every=3") + deadline, 8);
        EXPECT_EQ(made.samples, (std::vector<int>{255, 255, 255, 252, 252, 252, 249, 249}));
        EXPECT_TRUE(has(made, "\"age\":{\"mean\":1.4,\"max\":2}")) << made.stats;
    }
}

// A run takes 100 ms, and a frame comes each 40 ms.
TEST(FilterDeadline, AutoChoosesEveryHowManyFramesTheModelGets)
{
    const Passed made = run("latency_us 100000\n", "deadline=0.2:every=auto", 40, 40ms);
    ASSERT_EQ(made.samples.size(), 40U);
    EXPECT_TRUE(has(made, "\"every\":{\"now\":3,")) << made.stats;
    int own = 0;
    for (int number = 16; number < 40; number++)
        own += made.samples[static_cast<size_t>(number)] == inverted(number);
    EXPECT_NEAR(own, 8, 2) << made.stats;
    const Passed fast = run("latency_us 1000\n", "deadline=0.1:every=auto", 20, 10ms);
    EXPECT_EQ(fast.samples, numbers(20, inverted));
    EXPECT_TRUE(has(fast, "\"every\":{\"now\":1,\"max\":1,\"changes\":0}")) << fast.stats;
}

// Runs are measured that are shorter than most later ones.  If each frame were waited for until its
// deadline, later ones would wait before the filter, longer and longer.
TEST(FilterDeadline, FramesThatAreMadeOneByOneDoNotQueueUp)
{
    const Clock::time_point start = Clock::now();
    const Passed made = run_and_log("latency_random_us 150000\nseed 5\n",
                                    "deadline=0.2:goal=latency:tune=1", 50, 40ms);
    const Clock::duration taken = Clock::now() - start;
    EXPECT_EQ(times_logged("frames are made one by one"), 1) << logged;
    EXPECT_EQ(made.samples.size(), 50U);
    EXPECT_LT(taken, 3500ms) << "the clip is 2 s long, and the filter measures for 1 s at most";
}

// A run takes 150 ms, and a frame comes each 40 ms.  If the oldest frame were begun, each would be
// late.
TEST(FilterDeadline, AFrameThatWouldBeLateYieldsToANewerOne)
{
    const Passed made = run("latency_us 150000\n", "deadline=0.4:late=last", 50, 40ms);
    ASSERT_EQ(made.samples.size(), 50U);
    int own = 0;
    for (int number = 20; number < 50; number++)
        own += made.samples[static_cast<size_t>(number)] == inverted(number);
    EXPECT_GE(own, 5) << "the worker ends one of four";
}

TEST(FilterDeadline, ContradictionsAreRefused)
{
    for (const char *options :
         {"late=drop", "deadline=1:batch_size=2", "late=hide:strength=0.5", "late=hide:every=2",
          "late=hide:every=auto:deadline=1", "every=auto", "hide_with=blur"})
        EXPECT_EQ(Graph(inverts, std::string("threads=1:") + options).status(), AVERROR(EINVAL))
            << options;
}

} // namespace
