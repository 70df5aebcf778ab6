// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which runs and weights the threads of several nodes of memory get, where the nodes are pretended.
#include "engines/torch/fused/network.h"
#include "fused_nets.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

namespace engine_torch::fused
{
namespace
{

thread_local int pretended_node = 0;

int this_node() noexcept
{
    return pretended_node;
}

constexpr Extent some_size = {12, 40};

Graph two_layers()
{
    Dice dice(3);
    Graph graph(3);
    const ValueId first = graph.add(convolution_3x3(dice, 3, 16), {0});
    graph.add(convolution_3x3(dice, 16, 3), {first});
    return graph;
}

Network network(bool has_own_weights)
{
    return {two_layers(),
            Precision::fp32,
            {},
            LayoutChoice::fastest,
            {.has_own_weights = has_own_weights, .node = this_node}};
}

Network::Taken taken(Network &from, int node, Extent extent = some_size)
{
    pretended_node = node;
    return from.take(extent);
}

void give_back(Network &to, int node, Network::Taken taken)
{
    pretended_node = node;
    to.give_back(std::move(taken));
}

std::vector<float> result_of(Run &run)
{
    const Extent made = run.program().output_extent();
    std::vector<float> picture(static_cast<size_t>(3 * some_size.height * some_size.width), 0.25F);
    std::vector<float> result(static_cast<size_t>(3 * made.height * made.width));
    picture[17] = 0.75F;
    std::vector<std::byte> memory(run.memory_bytes() + cache_line);
    void *start = memory.data();
    size_t space = memory.size();
    std::align(cache_line, run.memory_bytes(), start, space);
    run.compute({picture.data(), planar_strides(some_size)}, {result.data(), planar_strides(made)},
                static_cast<std::byte *>(start));
    return result;
}

TEST(FusedNetwork, WeightsAreSharedUnlessItIsAskedFor)
{
    for (const bool has_own_weights : {false, true}) {
        Network net = network(has_own_weights);
        const auto first = taken(net, 0), second = taken(net, 1), again = taken(net, 0);
        EXPECT_EQ(&first.run->program() == &second.run->program(), !has_own_weights);
        EXPECT_EQ(&first.run->program(), &again.run->program());
        EXPECT_EQ(result_of(*first.run), result_of(*second.run));
    }
}

// Also those of other sizes.
TEST(FusedNetwork, WeightsOfOtherSizesAreThoseOfTheNode)
{
    constexpr Extent other_size = {20, 40};
    Network net = network(true);
    const auto first = taken(net, 0), second = taken(net, 1);
    const auto larger = taken(net, 0, other_size), larger_second = taken(net, 1, other_size);
    const std::set<const Program *> programs = {&first.run->program(), &second.run->program(),
                                                &larger.run->program(),
                                                &larger_second.run->program()};
    EXPECT_EQ(programs.size(), 4u);
}

TEST(FusedNetwork, RunsGoBackToTheirNode)
{
    for (const bool has_own_weights : {false, true}) {
        Network net = network(has_own_weights);
        auto run = taken(net, 1);
        const fused::Run *const kept = run.run.get();
        give_back(net, 1, std::move(run));
        EXPECT_NE(taken(net, 0).run.get(), kept);
        EXPECT_EQ(taken(net, 1).run.get(), kept);
    }
}

// A thread may have moved meanwhile: else runs would gather where threads move to.
TEST(FusedNetwork, RunsGoBackToWhereTheyCameFrom)
{
    for (const bool has_own_weights : {false, true}) {
        Network net = network(has_own_weights);
        std::set<const fused::Run *> seen;
        for (int i = 0; i < 10; i++) {
            auto run = taken(net, 1);
            seen.insert(run.run.get());
            give_back(net, 2, std::move(run));
        }
        EXPECT_EQ(seen.size(), 1u);
    }
}

TEST(FusedNetwork, EachNodeRemembersSizes)
{
    Network net = network(true);
    auto of_first = taken(net, 0);
    const fused::Run *const kept = of_first.run.get();
    give_back(net, 0, std::move(of_first));
    for (int64_t rows = 13; rows < 20; rows++)
        give_back(net, 1, taken(net, 1, {rows, 40}));
    EXPECT_EQ(taken(net, 0).run.get(), kept) << "sizes of another node took its place";
    for (int64_t rows = 13; rows < 20; rows++)
        give_back(net, 0, taken(net, 0, {rows, 40}));
    EXPECT_NE(taken(net, 0).run.get(), nullptr);
}

TEST(FusedNetwork, ManyThreadsOnFourNodes)
{
    for (const bool has_own_weights : {false, true}) {
        Network net = network(has_own_weights);
        const std::vector<float> expected = result_of(*taken(net, 0).run);
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 16; thread++)
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 20; i++) {
                    auto run = taken(net, thread % 4);
                    EXPECT_EQ(result_of(*run.run), expected);
                    give_back(net, thread % 4, std::move(run));
                }
            });
        for (std::thread &thread : threads)
            thread.join();
    }
}

TEST(MemoryNode, IsOneOfTheMachine)
{
    const std::string folder = "/sys/devices/system/node/node" + std::to_string(memory_node());
    if (!std::filesystem::exists("/sys/devices/system/node"))
        GTEST_SKIP() << "this kernel tells of no nodes";
    EXPECT_TRUE(std::filesystem::exists(folder)) << folder;
}

} // namespace
} // namespace engine_torch::fused
