// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where the tensors' memory comes from and goes to.
#include "engine_torch_models.h"

#include "engine_kit/block_cache.h"
#include "engines/torch/messages.h"

#include <fstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace
{

using engine_torch::BlockCache;
using engine_torch::Fault;
using engine_torch::fault_in;
using engine_torch::PeakScope;

constexpr size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

// ---- the blocks alone -----------------------------------------------------------------

TEST(Blocks, AreUsedAgain)
{
    BlockCache cache;
    void *first = cache.take(3 * mebibyte);
    EXPECT_TRUE(cache.give(first));
    EXPECT_EQ(cache.take(3 * mebibyte - 100), first);
    EXPECT_NE(cache.take(3 * mebibyte), first);
    EXPECT_EQ(cache.statistics().reused, 1U);
    EXPECT_EQ(cache.statistics().mapped, 2U);
    EXPECT_TRUE(cache.give(first));
}

TEST(Blocks, AreAsLargeAsAskedForAndHardlyLarger)
{
    BlockCache cache;
    for (size_t bytes = BlockCache::smallest_bytes; bytes < 40 * mebibyte; bytes += bytes / 7 + 1) {
        const size_t before = cache.statistics().in_use_bytes;
        char *block = static_cast<char *>(cache.take(bytes));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U);
        block[0] = block[bytes - 1] = 1;
        const size_t size = cache.statistics().in_use_bytes - before;
        EXPECT_GE(size, bytes);
        EXPECT_LE(size, bytes + bytes / 8);
        EXPECT_TRUE(cache.give(block));
    }
}

TEST(Blocks, OfOthersAreLeftAlone)
{
    BlockCache cache;
    alignas(65536) static char pages[65536];
    EXPECT_FALSE(cache.give(pages));
    EXPECT_FALSE(cache.give(pages + 64));
    void *block = cache.take(mebibyte);
    EXPECT_TRUE(cache.give(block));
    EXPECT_FALSE(cache.give(block));
}

TEST(Blocks, ThatCannotBeHad)
{
    BlockCache cache;
    EXPECT_EQ(cache.take(SIZE_MAX), nullptr);
    EXPECT_EQ(cache.take(size_t{1} << 62), nullptr);
    EXPECT_EQ(cache.take(size_t{1} << 50), nullptr);
    EXPECT_EQ(cache.statistics().in_use_bytes, 0U);
}

TEST(Blocks, IdleAreNeverMoreThanTwiceThePeak)
{
    BlockCache cache;
    for (size_t bytes = mebibyte; bytes < 20 * mebibyte; bytes += mebibyte) {
        EXPECT_TRUE(cache.give(cache.take(bytes)));
        EXPECT_LE(cache.statistics().idle_bytes, 2 * cache.statistics().peak_bytes);
    }
    EXPECT_GT(cache.statistics().idle_bytes, 0U);
    cache.trim();
    EXPECT_EQ(cache.statistics().idle_bytes, 0U);
    EXPECT_EQ(cache.statistics().peak_bytes, 0U);
}

// A detector halves its maps again and again, and keeps some of each size for later.
TEST(Blocks, OfManySizesAreMappedOnce)
{
    BlockCache cache;
    const auto run = [&cache] {
        std::vector<void *> kept;
        for (const size_t share : {1U, 2U, 4U, 8U, 16U, 32U}) {
            void *const first = cache.take(48 * mebibyte / share);
            void *const second = cache.take(48 * mebibyte / share);
            cache.give(first);
            if (share >= 8)
                kept.push_back(second);
            else
                cache.give(second);
        }
        for (void *block : kept)
            cache.give(block);
    };
    run();
    run();
    const uint64_t mapped = cache.statistics().mapped;
    run();
    EXPECT_EQ(cache.statistics().mapped, mapped);
}

TEST(Blocks, GoBackAtOnceIfSoAsked)
{
    BlockCache cache;
    EXPECT_TRUE(cache.give(cache.take(mebibyte)));
    cache.keep_idle(false);
    EXPECT_EQ(cache.statistics().idle_bytes, 0U);
    EXPECT_TRUE(cache.give(cache.take(mebibyte)));
    EXPECT_EQ(cache.statistics().idle_bytes, 0U);
}

TEST(Blocks, PeakOfAThread)
{
    BlockCache cache;
    void *before = cache.take(mebibyte);
    const PeakScope peak;
    void *first = cache.take(2 * mebibyte), *second = cache.take(mebibyte);
    std::thread([&] { cache.give(cache.take(64 * mebibyte)); }).join();
    EXPECT_TRUE(cache.give(first));
    EXPECT_TRUE(cache.give(second));
    EXPECT_TRUE(cache.give(before));
    EXPECT_EQ(peak.peak_bytes(), static_cast<int64_t>(3 * mebibyte));
}

TEST(Blocks, OnManyThreads)
{
    BlockCache cache;
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; seed++)
        threads.emplace_back([&cache, seed] {
            unsigned state = seed;
            for (int i = 0; i < 3000; i++) {
                state = state * 1664525U + 1013904223U;
                const size_t bytes = (64 + (state >> 22)) * kibibyte;
                unsigned *block = static_cast<unsigned *>(cache.take(bytes));
                *block = state;
                std::this_thread::yield();
                EXPECT_EQ(*block, state);
                EXPECT_TRUE(cache.give(block));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(cache.statistics().in_use_bytes, 0U);
    EXPECT_GT(cache.statistics().reused, 0U);
}

// ---- the engine -------------------------------------------------------------------------

size_t resident_bytes()
{
    std::ifstream about("/proc/self/statm");
    size_t all = 0, resident = 0;
    about >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

long page_faults()
{
    struct rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

// 32 planes of it are more than malloc() ever keeps.
constexpr int side = 560;
constexpr size_t layer_bytes = size_t{32} * side * side * 4;

TEST(Memory, StaysWhereItIs)
{
    for (const char *variant : {"saved", "channels_last", "inference"}) {
        Running running("net_memory", variant);
        const Pictures pictures(1, 3, side, side);
        for (int i = 0; i < 3; i++)
            running.session.run(pictures.view);
        const size_t before = resident_bytes();
        const long faults = page_faults();
        constexpr int runs = 20;
        for (int i = 0; i < runs; i++)
            EXPECT_EQ(running.session.run(pictures.view).status, DNN_TORCH_OK);
        EXPECT_LT(resident_bytes(), before + layer_bytes / 4) << variant;
        const auto pages = static_cast<long>(layer_bytes) / sysconf(_SC_PAGESIZE);
        EXPECT_LT(page_faults() - faults, runs * pages / 10) << variant;
    }
}

TEST(Memory, IsFlatOverManyRuns)
{
    Running running("net_memory");
    const auto run_sizes = [&running](int runs) {
        for (int i = 0; i < runs; i++)
            running.session.run(Pictures(1, 3, 64 + i % 3 * 16, 64 + i % 5 * 16).view);
    };
    run_sizes(30);
    const size_t before = resident_bytes();
    run_sizes(200);
    EXPECT_LT(resident_bytes(), before + 2 * mebibyte);
}

TEST(Memory, ABatchThatDoesNotFitRunsInParts)
{
    Running running("two_at_most");
    const Pictures pictures(5, 3, 16, 24);
    EXPECT_EQ(running.model.tune({5, 3, 16, 24}, 0.3).status, DNN_TORCH_OK);
    EXPECT_GT(running.model.tuning.run_seconds, 0);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(running.session.run(pictures.view).status, DNN_TORCH_OK);
        EXPECT_EQ(running.session.output.batch, 5);
        for (int picture = 0; picture < 5; picture++)
            EXPECT_EQ(sample(running.session.output, picture, 2, 15, 23),
                      sample(pictures.view, picture, 2, 15, 23) * 0.5F);
    }
    const std::string notice = running.model.notice();
    EXPECT_NE(notice.find("a batch of 5 does not fit into memory"), std::string::npos) << notice;
}

TEST(Words, OfMemoryThatRanOut)
{
    using engine_torch::asked_for;
    const std::string of_cuda =
        "CUDA out of memory. Tried to allocate 40.50 GiB. GPU 0 has a total";
    EXPECT_EQ(asked_for(of_cuda), " (the model asked for 40.5 GiB at once)");
    EXPECT_EQ(asked_for("XPU out of memory. Tried to allocate 20.00 MiB (GPU"),
              " (the model asked for 20.0 MiB at once)");
    EXPECT_EQ(asked_for("not enough memory: you tried to allocate 2147483648 bytes."),
              " (the model asked for 2.0 GiB at once)");
    EXPECT_EQ(asked_for("you tried to allocate some"), "");
    EXPECT_EQ(fault_in(of_cuda), Fault::device_memory);
    EXPECT_EQ(fault_in("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), Fault::device_memory);
    EXPECT_EQ(fault_in("not enough memory: you tried"), Fault::memory);
    EXPECT_EQ(fault_in("std::future_error: Broken promise"), Fault::memory);
}

TEST(Words, OfWhatAModelTakes)
{
    EXPECT_EQ(fault_in("Given groups=1, weight of size [8, 1, 3, 3], expected input[1, 3, 64, 64] "
                       "to have 1 channels, but got 3 channels instead"),
              Fault::channels);
    EXPECT_EQ(fault_in("The size of tensor a (3) must match the size of tensor b (24) at "
                       "non-singleton dimension 1"),
              Fault::channels);
    EXPECT_EQ(fault_in("expects luma"), Fault::channels);
    EXPECT_EQ(fault_in("Given groups=1, weight of size [8, 3, 3, 3, 3], expected input[1, 1, 3, "
                       "64, 64] to have 3 channels, but got 1 channels instead"),
              Fault::rank);
    EXPECT_EQ(fault_in("Expected 5 elements in a list but found 4"), Fault::rank);
    EXPECT_EQ(fault_in("Calculated padded input size per sample is too small"), Fault::other);
    EXPECT_EQ(fault_in("the disk is full"), Fault::other);
}

TEST(Memory, GoesBackWithAllModels)
{
    const Pictures pictures(1, 3, side, side);
    size_t before = 0, with_model = 0;
    {
        Running large("net_memory", "0");
        before = resident_bytes();
        large.session.run(pictures.view);
        with_model = resident_bytes();
    }
    EXPECT_GT(with_model, before + layer_bytes / 2);
    EXPECT_LT(resident_bytes(), with_model - layer_bytes / 2);
}

} // namespace
