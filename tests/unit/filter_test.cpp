// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failing_threads.h"
#include "filter_graph.h"

#include <chrono>
#include <set>
#include <sstream>
#include <thread>

using namespace dnn_torch;

namespace
{

class Shapes : public testing::TestWithParam<Shape>
{
};

constexpr const char *random_latency = "latency_random_us 400\nseed 5\n";

TEST_P(Shapes, PassEveryFrameInOrder)
{
    Graph graph(random_latency, GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(301), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 301);
}

TEST_P(Shapes, EndWithTheFailureAfterAllFramesBeforeIt)
{
    Graph graph(std::string(random_latency) + "fail_at 57\n", GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(301), AVERROR_EXTERNAL);
    // A batch fails as a whole; with async=0 it is what comes in at once.
    int batch_size = GetParam().async ? GetParam().batch_size : 1;
    EXPECT_EQ(graph.received(), 57 / batch_size * batch_size);
}

TEST_P(Shapes, ComeDownWithFramesInFlight)
{
    Graph graph(random_latency, GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    for (int i = 0; i < 20; i++)
        EXPECT_GE(graph.send(i), 0);
}

TEST_P(Shapes, ComeDownWithoutAFrame)
{
    Graph graph(random_latency, GetParam().options());
    EXPECT_EQ(graph.status(), 0);
}

TEST_P(Shapes, EndWithoutAFrame)
{
    Graph graph(random_latency, GetParam().options());
    EXPECT_EQ(graph.run(0), AVERROR_EOF);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes,
                         testing::Values(Shape{0, 0, 1, 0}, Shape{0, 0, 4, 0}, Shape{1, 0, 1, 0},
                                         Shape{1, 1, 1, 1}, Shape{1, 8, 1, 2}, Shape{1, 2, 4, 3},
                                         Shape{1, 16, 1, 8}, Shape{1, 3, 7, 2}));

// As ffmpeg does, which takes one frame out before it puts the next one in: what
// went out before the failure is then still with the filter behind.
TEST(Filter, FramesBeforeAFailureArriveThoughOthersComeIn)
{
    Graph graph("latency_us 20000\nfail_at 3\n", "threads=1:workers=1:nireq=8", "null");
    ASSERT_EQ(graph.status(), 0);
    int number = 0;
    while (number < 4)
        EXPECT_GE(graph.send(number++, 0), 0);
    EXPECT_EQ(graph.receive(), AVERROR(EAGAIN));
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // all four are through

    int ret = 0;
    while (ret >= 0 && number < 40) {
        ret = graph.send(number++);
        if (ret >= 0 && (ret = graph.receive_one()) == AVERROR(EAGAIN))
            ret = 0;
    }
    EXPECT_EQ(ret, AVERROR_EXTERNAL);
    EXPECT_EQ(graph.received(), 3);
    EXPECT_LT(number, 12) << "the failure is told late";
}

TEST(Filter, AModelThatNeverComesBackRunsOutOfTime)
{
    Graph graph("hang_at 5\n", "threads=1:workers=2:nireq=4:timeout=1");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(50), AVERROR(ETIMEDOUT));
    EXPECT_EQ(graph.received(), 5);
}

TEST(Filter, AModelThatHangsDoesNotHoldUpTheEnd)
{
    Graph graph("hang_at 5\n", "threads=1:workers=2:nireq=16");
    ASSERT_EQ(graph.status(), 0);
    for (int i = 0; i < 9; i++)
        EXPECT_GE(graph.send(i), 0);
}

TEST(Filter, FailuresBeforeTheFirstFrameAreThoseOfInit)
{
    EXPECT_LT(Graph("fail_open broken\n", "threads=1").status(), 0);
    EXPECT_LT(Graph("nonsense 1\n", "threads=1").status(), 0);
}

TEST(Filter, AnswersCommands)
{
    Graph graph("", "threads=1:workers=2:nireq=3");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.command("progress"), "frames 0 fps 0.00 in_flight 0");
    EXPECT_NE(graph.command("stats").find("\"state\":\"waiting\""), std::string::npos);
    EXPECT_EQ(graph.run(20), AVERROR_EOF);
    EXPECT_EQ(graph.command("progress").substr(0, 14), "frames 20 fps ");
    std::string stats = graph.command("stats");
    for (const char *part : {"\"frames\":20,", "\"state\":\"stopped\"", "\"workers\":2,",
                             "\"threads\":1,", "\"nireq\":3,", "\"input\":\"16x8\""})
        EXPECT_NE(stats.find(part), std::string::npos) << part << " in " << stats;
    EXPECT_EQ(graph.command("nonsense"), "status " + std::to_string(AVERROR(ENOSYS)));
}

// However many cores there are.
TEST(Filter, ThreadsAndWorkersAreAsGiven)
{
    for (int threads : {1, 3}) {
        Graph graph("", "workers=2:threads=" + std::to_string(threads));
        EXPECT_EQ(graph.run(3), AVERROR_EOF);
        std::string stats = graph.command("stats");
        EXPECT_NE(stats.find("\"workers\":2,\"threads\":" + std::to_string(threads) + ","),
                  std::string::npos)
            << stats;
    }
}

TEST(Filter, WritesItsStatisticsOnceItEnds)
{
    std::string path = testing::TempDir() + "dnn_torch_stats_" + std::to_string(getpid()) + ".json";
    for (const auto &[script, state] : {std::pair{"", "stopped"}, {"fail_at 5\n", "failed"}}) {
        {
            Graph graph(script, "threads=1:stats=" + path);
            ASSERT_EQ(graph.status(), 0);
            graph.run(9);
        }
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        unlink(path.c_str());
        EXPECT_NE(text.str().find("\"state\":\"" + std::string(state) + "\""), std::string::npos);
        EXPECT_NE(text.str().find(*script ? "\"frames\":5," : "\"frames\":9,"), std::string::npos);
    }
}

TEST(Filter, RefusesAFileForStatisticsThatCannotBe)
{
    EXPECT_EQ(Graph("", "threads=1:stats=/nowhere/stats.json").status(), AVERROR(ENOENT));
}

TEST(Filter, GivesTheModelItsChannelsSideBySide)
{
    Graph graph("interleaved 1\n", "threads=1");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(20), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 20);
}

// The graph's frames are of one grey plane; other formats are the golden tests' matter.
TEST(Filter, GivesTheModelFramesInTheirOwnCodes)
{
    Graph graph("takes_integers 1\n", "threads=1:batch_size=3");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(20), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 20);
}

TEST(Filter, WorkersFollowTheCostThatTuningFound)
{
    Graph cheap("tuned_us 100\n", "threads=1");
    EXPECT_EQ(cheap.run(3), AVERROR_EOF);
    EXPECT_NE(cheap.command("stats").find("\"workers\":1,"), std::string::npos);
    Graph huge("tuned_us 100000\ntuned_bytes 1000000000000000\n", "threads=1");
    EXPECT_EQ(huge.run(3), AVERROR_EOF);
    EXPECT_NE(huge.command("stats").find("\"workers\":1,"), std::string::npos);
}

TEST(Filter, EndsWhereTuningFails)
{
    Graph graph("fail_tune out of luck\n", "threads=1");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(3), AVERROR_EXTERNAL);
    EXPECT_EQ(graph.received(), 0);
}

// ---- threads, and their absence -------------------------------------------------------

TEST(Filter, GoesOnWithFewerThreads)
{
    Graph graph("", "threads=1:workers=4");
    ASSERT_EQ(graph.status(), 0);
    FewThreads few(2); // one for tuning, and one worker
    EXPECT_EQ(graph.run(20), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 20);
    EXPECT_NE(graph.command("stats").find("\"workers\":1,"), std::string::npos);
}

TEST(Filter, EndsWhereNoThreadStarts)
{
    for (int count : {0, 1}) {
        Graph graph("", "threads=1:workers=4");
        ASSERT_EQ(graph.status(), 0);
        FewThreads few(count);
        EXPECT_EQ(graph.run(20), AVERROR(ENOMEM));
    }
}

TEST(Filter, AChildOfForkDoesNotWaitForItsParentsWorkers)
{
    if (!copies_by_fork_work)
        GTEST_SKIP() << no_copies_by_fork;
    Graph graph("latency_us 1000\n", "threads=1:workers=2:nireq=8");
    ASSERT_EQ(graph.status(), 0);
    auto *inherited = &graph;
    for (int round = 0; round < 30; round++) {
        EXPECT_GE(graph.send(round), 0);
        EXPECT_EQ(in_child([&] {
                      int ret = inherited->send(round);
                      inherited->free();
                      return ret == AVERROR(EINVAL) ? 7 : 8;
                  }),
                  7);
    }
    graph.receive();
}

TEST(Filter, AChildOfForkMayHaveItsOwnFilter)
{
    if (!copies_by_fork_work)
        GTEST_SKIP() << no_copies_by_fork;
    Graph graph("latency_us 1000\n", "threads=1:workers=2:nireq=8");
    for (int number = 0; number < 6; number++)
        EXPECT_GE(graph.send(number), 0);
    EXPECT_EQ(in_child([] {
                  Graph own("latency_us 100\n", "threads=1:workers=2");
                  return own.run(20) == AVERROR_EOF ? own.received() : 8;
              }),
              20);
}

TEST(Filter, AModelThatRemembersHasOneWorker)
{
    Graph graph("in_order 1\nlatency_random_us 400\n", "threads=1:workers=4:nireq=6");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(30), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 30);
    EXPECT_NE(graph.command("stats").find("\"workers\":1,"), std::string::npos);
}

// The engine seeds random numbers with them, and compares the first frames in their order.
TEST(Filter, NumbersTheFramesOfTheStream)
{
    std::string log = testing::TempDir() + "dnn_torch_log_" + std::to_string(getpid());
    for (int batch_size : {1, 3}) {
        {
            Graph graph("log " + log + "\n", "threads=1:workers=1:enable=not(between(t\\,0.2\\,"
                                             "0.4)):batch_size=" +
                                                 std::to_string(batch_size));
            ASSERT_EQ(graph.status(), 0);
            EXPECT_EQ(graph.run(20), AVERROR_EOF);
            EXPECT_EQ(graph.received(), 20);
        }
        std::set<int> numbers;
        std::ifstream file(log);
        std::string thread;
        int before = 0;
        for (int count = 0, number = 0, behind = 0, more = 0;
             file >> thread >> count >> number >> behind >> more; before = number) {
            EXPECT_EQ(behind, number - before);
            for (int i = 0; i < count; i++)
                numbers.insert(number + i);
        }
        unlink(log.c_str());
        for (int number = 0; number < 20; number++)
            EXPECT_EQ(numbers.count(number), number < 5 || number > 10 ? 1U : 0U) << number;
    }
}

} // namespace

int main(int argc, char **argv)
{
    return run_filter_tests(argc, argv);
}
