// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What runs of fused programs allocate.
#include "fused_nets.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <vector>

namespace
{

std::atomic<size_t> largest_bytes, allocations;
thread_local bool counts = false;

} // namespace

// oneDNN's own calls come here too.
void *operator new(size_t bytes)
{
    if (counts) {
        allocations++;
        size_t before = largest_bytes;
        while (bytes > before && !largest_bytes.compare_exchange_weak(before, bytes)) {
        }
    }
    if (void *made = std::malloc(bytes))
        return made;
    throw std::bad_alloc();
}

// std::stable_sort() calls this one, and the ordinary delete.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept
{
    if (counts)
        allocations++;
    return std::malloc(bytes);
}

// Inlined, gcc would take them for the wrong counterparts of `new`.
[[gnu::noinline]] void operator delete(void *it) noexcept
{
    std::free(it);
}
[[gnu::noinline]] void operator delete(void *it, size_t) noexcept
{
    std::free(it);
}

namespace engine_torch::fused
{
namespace
{

Graph some_net()
{
    Dice dice(1);
    Graph graph(16);
    ValueId value = 0;
    for (int layer = 0; layer < 4; layer++) {
        value = graph.add(convolution_3x3(dice, 16, 16), {value});
        value = graph.add(Prelu{dice.numbers(16)}, {value});
        value = graph.add(Binary(), {value, 0});
        value = graph.add(Padding{0, 0, 0, 0, 1}, {value});
    }
    graph.add(PixelShuffle{4}, {value});
    return graph;
}

void count_allocations(const Graph &graph, LayoutChoice layouts)
{
    const Extent extent = {40, 64};
    fused::Run run(Program::compile(graph, extent, {.layouts = layouts, .band_rows = 4}));
    std::vector<float> from(16 * 40 * 64), to(from.size());
    const Picture in = {from.data(), planar_strides(extent)};
    const Picture out = {to.data(), planar_strides({160, 256})};
    std::vector<std::byte> memory(run.memory_bytes());
    run.compute(in, out, memory.data());
    allocations = largest_bytes = 0;
    counts = true;
    run.compute(in, out, memory.data());
    counts = false;
}

TEST(FusedMemory, FramesAllocateNothing)
{
    for (const LayoutChoice layouts : {LayoutChoice::fastest, LayoutChoice::direct}) {
        count_allocations(some_net(), layouts);
        EXPECT_EQ(allocations, 0u);
    }
}

// oneDNN looks arguments up in tables of its own in each call: nothing of a frame's size.
TEST(FusedMemory, OneDnnAllocatesOnlyItsArguments)
{
    count_allocations(some_net(), LayoutChoice::interleaved);
    EXPECT_LT(largest_bytes, 16384u);
}

} // namespace
} // namespace engine_torch::fused
