// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Cores, hyperthreads and nodes of machines that a folder pretends.
#include "devices/cpu.h"
#include "devices/topology.h"
#include "pretended_machine.h"

#include <numeric>
#include <sched.h>
#include <thread>

using namespace dnn_torch;

namespace
{

using TopologyOf = PretendedMachine;

Processors from_to(size_t first, size_t last)
{
    Processors all(last - first + 1);
    std::iota(all.begin(), all.end(), first);
    return all;
}

Processors both(Processors some, const Processors &others)
{
    some.insert(some.end(), others.begin(), others.end());
    return some;
}

TEST(ProcessorLists, AreReadAsTheKernelWritesThem)
{
    EXPECT_EQ(parse_processors("0"), Processors{0});
    EXPECT_EQ(parse_processors("0-3,8,10-11"), (Processors{0, 1, 2, 3, 8, 10, 11}));
    EXPECT_EQ(parse_processors("5,1"), (Processors{1, 5}));
}

TEST(ProcessorLists, ThatMakeNoSenseAreEmpty)
{
    for (const char *text : {"", "x", "0-", "-1", "3-1", "0,,1", "0-3x", "0 1", "0-99999999999",
                             "18446744073709551616", "0-3,", "+1"})
        EXPECT_EQ(parse_processors(text), Processors{}) << text;
}

TEST_F(TopologyOf, FourCores)
{
    processors(1, 4, 1);
    const Topology it = topology_of(from_to(0, 3), root);
    EXPECT_EQ(it.cores, 4U);
    EXPECT_EQ(it.nodes, (std::vector<Processors>{from_to(0, 3)}));
    EXPECT_EQ(worthwhile_cores(it), 4U);
}

TEST_F(TopologyOf, SixteenCoresWithHyperthreads)
{
    processors(1, 16, 2);
    const Topology it = topology_of(from_to(0, 31), root);
    EXPECT_EQ(it.allowed.size(), 32U);
    EXPECT_EQ(it.cores, 16U);
    EXPECT_EQ(worthwhile_cores(it), 16U);
    EXPECT_EQ(it.nodes.size(), 1U);
}

TEST_F(TopologyOf, SixtyFourCores)
{
    processors(1, 64, 1);
    const Topology it = topology_of(from_to(0, 63), root);
    EXPECT_EQ(it.cores, 64U);
    EXPECT_EQ(worthwhile_cores(it), 64U);
}

TEST_F(TopologyOf, TwoSocketsOf64CoresWithHyperthreads)
{
    processors(2, 64, 2);
    const Topology it = topology_of(from_to(0, 255), root);
    EXPECT_EQ(it.cores, 128U);
    EXPECT_EQ(worthwhile_cores(it), 128U);
    EXPECT_EQ(it.nodes, (std::vector<Processors>{both(from_to(0, 63), from_to(128, 191)),
                                                 both(from_to(64, 127), from_to(192, 255))}));
}

TEST_F(TopologyOf, AnAffinityThatLeavesHalfOfANode)
{
    processors(2, 8, 2);
    const Topology half = topology_of(from_to(0, 3), root);
    EXPECT_EQ(half.cores, 4U);
    EXPECT_EQ(half.nodes, (std::vector<Processors>{from_to(0, 3)}));
    // All of the first node, and half of the other, but not their second hyperthreads.
    const Topology more = topology_of(from_to(0, 11), root);
    EXPECT_EQ(more.cores, 12U);
    EXPECT_EQ(more.nodes, (std::vector<Processors>{from_to(0, 7), from_to(8, 11)}));
}

TEST_F(TopologyOf, HyperthreadsOfFewCores)
{
    processors(1, 8, 2);
    const Topology pairs = topology_of({0, 1, 8, 9}, root);
    EXPECT_EQ(pairs.cores, 2U);
    EXPECT_EQ(worthwhile_cores(pairs), 2U);
    const Topology one = topology_of({3, 11}, root);
    EXPECT_EQ(one.cores, 1U);
    EXPECT_EQ(worthwhile_cores(one), 2U) << "a single core has two";
    EXPECT_EQ(worthwhile_cores(topology_of({3}, root)), 1U);
}

TEST_F(TopologyOf, FourHyperthreadsOfACore)
{
    processors(1, 2, 4);
    EXPECT_EQ(worthwhile_cores(topology_of(from_to(0, 7), root)), 2U);
    EXPECT_EQ(worthwhile_cores(topology_of({0, 2, 4, 6}, root)), 2U);
}

TEST_F(TopologyOf, AMachineWithoutSuchFiles)
{
    const Topology it = topology_of(from_to(0, 15), root);
    EXPECT_EQ(it.cores, 16U);
    EXPECT_EQ(worthwhile_cores(it), 16U);
    EXPECT_EQ(it.nodes, (std::vector<Processors>{from_to(0, 15)}));
    EXPECT_EQ(topology_of({}, root).allowed, Processors{0});
}

TEST_F(TopologyOf, NodesThatLeaveSomeOutAreNotKnown)
{
    processors(2, 4, 1);
    file("/sys/devices/system/node/node1/cpulist", "4-5\n");
    EXPECT_EQ(topology_of(from_to(0, 7), root).nodes, (std::vector<Processors>{from_to(0, 7)}));
}

TEST_F(TopologyOf, NodesOfMemoryAloneDoNotCount)
{
    processors(1, 4, 1);
    file("/sys/devices/system/node/online", "0-1\n");
    file("/sys/devices/system/node/node1/cpulist", "\n");
    EXPECT_EQ(topology_of(from_to(0, 3), root).nodes.size(), 1U);
}

// Of the processors that this machine really has, so that the affinity is right.
TEST_F(TopologyOf, TheQuotaHoldsBesideHyperthreads)
{
    const Processors here = allowed_processors();
    for (size_t processor : here)
        file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                 "/topology/thread_siblings_list",
             std::to_string(processor) + "\n");
    EXPECT_EQ(usable_cores(root), here.size());
    file("/proc/self/cgroup", "0::/\n");
    file("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    EXPECT_EQ(usable_cores(root), 1U);
    const CpuInfo info = cpu_info(root);
    EXPECT_EQ(info.physical_cores, here.size());
    EXPECT_EQ(info.allowed_cores, here.size());
    EXPECT_EQ(info.nodes, 1U);
}

TEST(Quotas, CountCoresAndNotHyperthreads)
{
    const Topology large = {.allowed = from_to(0, 63), .cores = 32, .nodes = {from_to(0, 63)}};
    EXPECT_EQ(cores_within(worthwhile_cores(large), 48), 32U);
    EXPECT_EQ(cores_within(worthwhile_cores(large), 20.5), 20U);
    EXPECT_EQ(cores_within(worthwhile_cores(large), 0.5), 1U);
}

TEST(ThisMachine, HasATopology)
{
    const Topology it = usable_topology();
    EXPECT_EQ(it.allowed, allowed_processors());
    EXPECT_GE(it.cores, 1U);
    EXPECT_LE(it.cores, it.allowed.size());
    size_t in_nodes = 0;
    for (const Processors &node : it.nodes)
        in_nodes += node.size();
    EXPECT_EQ(in_nodes, it.allowed.size());
}

// On a thread of its own, since a thread cannot be given back what it gave up here.
template <class Act> void on_a_thread(Act act)
{
    std::thread(act).join();
}

TEST(KeepTo, BindsTheThreadAndThoseThatItStarts)
{
    const Processors before = allowed_processors();
    ASSERT_FALSE(before.empty());
    on_a_thread([&] {
        EXPECT_TRUE(keep_to({before.back()}));
        EXPECT_EQ(allowed_processors(), Processors{before.back()});
        on_a_thread([&] { EXPECT_EQ(allowed_processors(), Processors{before.back()}); });
    });
    EXPECT_EQ(allowed_processors(), before);
}

TEST(KeepTo, NeverWidens)
{
    const Processors before = allowed_processors();
    on_a_thread([&] {
        ASSERT_TRUE(keep_to({before.front()}));
        EXPECT_TRUE(keep_to(from_to(0, before.back() + 64)));
        EXPECT_EQ(allowed_processors(), Processors{before.front()});
        EXPECT_FALSE(keep_to({before.front() + 4096}));
        EXPECT_FALSE(keep_to({}));
        EXPECT_EQ(allowed_processors(), Processors{before.front()});
    });
}

} // namespace
