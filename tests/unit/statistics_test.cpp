// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/json.h"
#include "host/workers/statistics.h"

#include <gtest/gtest.h>

#include <limits>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

const Clock::time_point start = Clock::time_point{} + 1h;

TEST(Latencies, QuantilesAreWithinTwoPercent)
{
    Latencies latencies;
    for (int i = 1; i <= 1000; i++)
        latencies.add(i * 1e-3);
    EXPECT_NEAR(latencies.mean(), 0.5005, 1e-9);
    EXPECT_NEAR(latencies.quantile(0.5), 0.5, 0.01);
    EXPECT_NEAR(latencies.quantile(0.99), 0.99, 0.02);
    EXPECT_LE(latencies.quantile(1), latencies.max());
}

TEST(Latencies, TakesNothingAndAnything)
{
    Latencies latencies;
    EXPECT_EQ(latencies.quantile(0.99), 0);
    EXPECT_EQ(latencies.mean(), 0);
    latencies.add(0);
    latencies.add(1e9);
    EXPECT_LT(latencies.quantile(0.5), 2e-6);
    EXPECT_GT(latencies.quantile(1), 3000);
}

TEST(Stopwatch, AddsTheTimeOfItsLife)
{
    double seconds = 1;
    Clock::time_point before = Clock::now();
    {
        Stopwatch watch(seconds);
        while (Clock::now() < before + 2ms) {
        }
    }
    EXPECT_GE(seconds, 1.0015);
    EXPECT_LE(seconds, 1 + std::chrono::duration<double>(Clock::now() - before).count());
}

TEST(Statistics, NothingIsNothing)
{
    Summary summary = Statistics(2).summary();
    EXPECT_EQ(summary.frames, 0U);
    EXPECT_EQ(summary.frames_per_second, 0);
    EXPECT_EQ(summary.busy, 0);
}

// Ten frames, one leaving each 100 ms, each 150 ms after it came.
Statistics ten_frames(size_t workers, const StageSeconds &stages)
{
    Statistics statistics(workers);
    for (int i = 0; i < 10; i++) {
        Clock::time_point arrival = start + i * 100ms;
        statistics.add_job(stages, 1);
        statistics.add_frame(arrival, stages.sum(), arrival + 150ms);
    }
    return statistics;
}

TEST(Statistics, SumsUpFramesAndStages)
{
    Summary summary = ten_frames(1, {0.01, 0.08, 0.005}).summary();
    EXPECT_EQ(summary.frames, 10U);
    EXPECT_NEAR(summary.seconds, 1.05, 1e-9);
    EXPECT_NEAR(summary.frames_per_second, 10 / 1.05, 1e-9);
    EXPECT_NEAR(summary.latency_mean, 0.15, 1e-9);
    EXPECT_NEAR(summary.latency_99, 0.15, 0.004);
    EXPECT_NEAR(summary.wait, 0.055, 1e-9);
    EXPECT_NEAR(summary.per_frame.convert_in, 0.01, 1e-9);
    EXPECT_NEAR(summary.per_frame.forward, 0.08, 1e-9);
    EXPECT_NEAR(summary.per_frame.convert_out, 0.005, 1e-9);
    EXPECT_NEAR(summary.busy, 0.95 / 1.05, 1e-9);
}

TEST(Statistics, ABatchIsSeveralFrames)
{
    Statistics statistics(1);
    statistics.add_job({0.04, 0.32, 0.04}, 4);
    for (int i = 0; i < 4; i++)
        statistics.add_frame(start, 0.4, start + 500ms);
    Summary summary = statistics.summary();
    EXPECT_EQ(summary.frames, 4U);
    EXPECT_NEAR(summary.per_frame.forward, 0.08, 1e-9);
    EXPECT_NEAR(summary.wait, 0.1, 1e-9);
}

TEST(Statistics, OneIsNotMany)
{
    Statistics statistics(1);
    statistics.add_job({0.01, 0.08, 0.005}, 1);
    statistics.add_frame(start, 0.1, start + 1s);
    statistics.add_crash(1, 1);
    const std::string line = to_line(statistics.summary());
    EXPECT_TRUE(line.starts_with("1 frame in 1.000 s")) << line;
    EXPECT_TRUE(line.ends_with("; 1 run was tried again in a new process, 1 frame passed without "
                               "the model"))
        << line;
}

TEST(Statistics, TheModelsArithmeticIsToldIfItIsKnown)
{
    Statistics statistics = ten_frames(1, {0.01, 0.08, 0.005});
    EXPECT_EQ(to_line(statistics.summary()).find("GFLOP"), std::string::npos);
    EXPECT_TRUE(json_of(statistics.summary())["gflops"].is_null());
    statistics.add_job({}, 0, 21e9);
    Summary summary = statistics.summary();
    EXPECT_NEAR(summary.operations_per_second, 20e9, 1);
    EXPECT_TRUE(to_line(summary).ends_with("; 20.0 GFLOP/s")) << to_line(summary);
    summary.share_of_peak = 0.25;
    EXPECT_TRUE(to_line(summary).ends_with("; 20.0 GFLOP/s, 25 % of the cores' peak in fp32"));
    EXPECT_EQ(json_of(summary)["gflops"], 20);
    EXPECT_EQ(json_of(summary)["share_of_peak"], 0.25);
}

TEST(Statistics, BusyWorkersAreTheLimit)
{
    EXPECT_EQ(ten_frames(1, {0.001, 0.098, 0.001}).summary().limit, Limit::model);
    EXPECT_EQ(ten_frames(1, {0.060, 0.030, 0.010}).summary().limit, Limit::conversion);
}

// Workers at rest half of the time: whoever the filter's thread waits for.
TEST(Statistics, OtherwiseTheLongestWaitIs)
{
    const StageSeconds stages = {0.001, 0.048, 0.001};

    Statistics decoding = ten_frames(1, stages);
    decoding.leave(false, start);
    decoding.enter(start + 600ms);
    EXPECT_EQ(decoding.summary().limit, Limit::decoding);
    EXPECT_NEAR(decoding.summary().upstream, 0.6 / 1.05, 1e-9);

    Statistics encoding = ten_frames(1, stages);
    encoding.leave(true, start);
    encoding.enter(start + 600ms);
    EXPECT_EQ(encoding.summary().limit, Limit::encoding);
    EXPECT_NEAR(encoding.summary().downstream, 0.6 / 1.05, 1e-9);

    Statistics waiting = ten_frames(1, stages);
    waiting.waiting_for_workers() += 0.6;
    EXPECT_EQ(waiting.summary().limit, Limit::model);
}

TEST(Statistics, AreALineAndAnObject)
{
    Summary summary = ten_frames(1, {0.01, 0.08, 0.005}).summary();
    EXPECT_EQ(to_line(summary),
              "10 frames in 1.050 s, 9.52 fps; latency 150.0 ms, 99 % within " +
                  std::to_string(summary.latency_99 * 1e3).substr(0, 5) +
                  " ms; a frame: wait 55.00, convert in 10.00, model 80.00, convert out 5.00 ms; "
                  "workers busy 90 %; limited by the model");
    std::string text = json::line_of(json_of(summary));
    EXPECT_NE(text.find("\"frame_ms\":{\"wait\":55.0,\"convert_in\":10.0"), std::string::npos)
        << text;
}

} // namespace
