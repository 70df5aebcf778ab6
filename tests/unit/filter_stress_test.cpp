// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Many frames in every combination of what divides the work.
#include "filter_graph.h"

using namespace dnn_torch;

namespace
{

constexpr int frame_count = 5000;

class Combinations
    : public testing::TestWithParam<std::tuple<int, int, int, int>> // async, nireq, batch, workers
{
protected:
    Shape shape() const
    {
        auto [async, nireq, batch_size, workers] = GetParam();
        return {async, nireq, batch_size, workers};
    }
    // Another one for each combination, the same in each run.
    int seed() const
    {
        Shape of = shape();
        return of.async * 1000 + of.nireq * 100 + of.batch_size * 10 + of.workers;
    }
    std::string random_latency() const
    {
        return "latency_random_us 30\nseed " + std::to_string(seed()) + "\n";
    }
};

TEST_P(Combinations, PassEveryFrameInOrder)
{
    Graph graph(random_latency(), shape().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(frame_count), AVERROR_EOF);
    EXPECT_EQ(graph.received(), frame_count);
}

// Probing makes some runs before the first frame, and a batch is one run: of as many
// frames as it holds, or without async of those that come in at once.
TEST_P(Combinations, EndWithTheFirstFailure)
{
    int runs = frame_count / shape().batch_size;
    int failing = 20 + seed() * 7919 % (runs - 20);
    Graph graph(random_latency() + "fail_at_run " + std::to_string(failing) + "\n",
                shape().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(frame_count), AVERROR_EXTERNAL);
    EXPECT_LT(graph.received(), frame_count);
    int at_once = shape().async ? shape().batch_size : 1;
    EXPECT_GE(graph.received(), (failing - 20 - 16) * at_once);
    EXPECT_EQ(graph.received() % at_once, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Combinations,
                         testing::Combine(testing::Values(0, 1), testing::Values(0, 1, 3, 16),
                                          testing::Values(1, 4, 7), testing::Values(0, 1, 2, 5)));

} // namespace

int main(int argc, char **argv)
{
    return run_filter_tests(argc, argv);
}
