// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/workers/ordered_pool.h"
#include "host/workers/worker_places.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace dnn_torch;

namespace
{

Processors from(size_t first, size_t count)
{
    Processors all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
}

Topology nodes_of(const std::vector<size_t> &sizes)
{
    Topology it;
    size_t first = 0;
    for (size_t size : sizes) {
        it.nodes.push_back(from(first, size));
        first += size;
    }
    it.allowed = from(0, first);
    it.cores = first;
    return it;
}

CoreBudget budget(size_t workers, size_t threads)
{
    return {.workers = workers,
            .threads_per_worker = threads,
            .in_flight = workers + 1,
            .cores = workers * threads};
}

// How many workers each node has.
std::vector<size_t> spread(const Topology &topology, size_t workers, size_t threads = 1)
{
    const WorkerPlaces places(topology, budget(workers, threads));
    std::vector<size_t> counts(topology.nodes.size());
    for (size_t worker = 0; worker < workers; worker++)
        for (size_t node = 0; node < counts.size(); node++)
            if (places.of(worker) && *places.of(worker) == topology.nodes[node])
                counts[node]++;
    return counts;
}

using Counts = std::vector<size_t>;

TEST(WorkerPlaces, AreEverywhereOnOneNode)
{
    EXPECT_EQ(spread(nodes_of({64}), 64), Counts{0});
    EXPECT_EQ(WorkerPlaces().of(0), nullptr);
}

TEST(WorkerPlaces, AreSpreadOverTwoNodes)
{
    EXPECT_EQ(spread(nodes_of({64, 64}), 128), (Counts{64, 64}));
    EXPECT_EQ(spread(nodes_of({64, 64}), 2), (Counts{1, 1}));
    EXPECT_EQ(spread(nodes_of({64, 64}), 7), (Counts{4, 3}));
}

TEST(WorkerPlaces, AreByWhatEachNodeHas)
{
    EXPECT_EQ(spread(nodes_of({64, 32}), 96), (Counts{64, 32}));
    EXPECT_EQ(spread(nodes_of({32, 64}), 6), (Counts{2, 4}));
    EXPECT_EQ(spread(nodes_of({2, 8, 2, 4}), 16), (Counts{2, 8, 2, 4}));
}

TEST(WorkerPlaces, OfMoreWorkersThanProcessors)
{
    EXPECT_EQ(spread(nodes_of({4, 4}), 20), (Counts{10, 10}));
}

TEST(WorkerPlaces, LeaveNoNodeIdle)
{
    EXPECT_EQ(spread(nodes_of({64, 64}), 1), (Counts{0, 0}));
    EXPECT_EQ(spread(nodes_of({4, 4, 4, 4}), 3), (Counts{0, 0, 0, 0}));
}

TEST(WorkerPlaces, LetEachThreadHaveAProcessor)
{
    EXPECT_EQ(spread(nodes_of({64, 64}), 2, 64), (Counts{1, 1}));
    EXPECT_EQ(spread(nodes_of({64, 64}), 2, 65), (Counts{0, 0}));
    EXPECT_EQ(spread(nodes_of({96, 32}), 2, 64), (Counts{0, 0}));
}

TEST(WorkerPlaces, DoNotMatterToADevice)
{
    CoreBudget of_device = budget(4, 1);
    of_device.cores = 0;
    EXPECT_EQ(WorkerPlaces(nodes_of({64, 64}), of_device).of(0), nullptr);
}

TEST(WorkerPlaces, WithoutAWorkerAreEverywhere)
{
    EXPECT_EQ(WorkerPlaces(nodes_of({4, 4}), budget(2, 1)).of(2), nullptr);
}

TEST(WorkerPlaces, OfThisMachineFollowTheEnvironment)
{
    const size_t nodes = usable_topology().nodes.size();
    const CoreBudget enough = budget(nodes, 1);
    EXPECT_EQ(places_here(enough).of(0) != nullptr, nodes > 1);
    setenv("DNN_TORCH_PIN", "0", 1);
    EXPECT_EQ(places_here(enough).of(0), nullptr);
    unsetenv("DNN_TORCH_PIN");
}

// ---- with threads -------------------------------------------------------------

struct Question : AnyJob {
    size_t worker = 0;
    Processors where;
};

struct Answerer : PoolWorker<Question> {
    explicit Answerer(size_t index) : worker(index) {}
    void run(Question &job) override
    {
        job.worker = worker;
        job.where = allowed_processors();
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // for the others to get some
    }
    size_t worker;
};

// Two processors of this machine stand for two nodes.
TEST(WorkerPlaces, BindTheWorkersOfAPool)
{
    const Processors here = allowed_processors();
    if (here.size() < 2)
        GTEST_SKIP() << "one processor makes no two nodes";
    const Topology two = {
        .allowed = {here[0], here[1]}, .cores = 2, .nodes = {{here[0]}, {here[1]}}};
    const WorkerPlaces places(two, budget(4, 1));
    OrderedPool<Question> pool({.workers = 4, .capacity = 64, .timeout = std::chrono::seconds(60)},
                               [places](size_t worker) {
                                   places.bind_thread(worker);
                                   return std::make_unique<Answerer>(worker);
                               });
    for (int i = 0; i < 64; i++)
        pool.submit(std::make_unique<Question>());
    std::set<size_t> seen;
    while (!pool.empty()) {
        const auto done = pool.take();
        EXPECT_EQ(done->where, *places.of(done->worker));
        seen.insert(done->where.front());
    }
    EXPECT_EQ(seen.size(), 2U);
    EXPECT_EQ(allowed_processors(), here) << "the filter's own thread stays free";
}

} // namespace
