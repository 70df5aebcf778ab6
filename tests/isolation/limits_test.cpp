// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How much there is of what the cage leaves.
#include "caged.h"

#include "isolation/cage/memory.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace
{

using Limits = CageTest;

constexpr int64_t megabyte = 1 << 20;

// Allocates until there is no more, and returns how many MiB there were.
int allocate_all(const std::function<void *()> &one_megabyte, int most)
{
    for (int count = 0; count < most; count++) {
        void *memory = one_megabyte();
        if (!memory || memory == MAP_FAILED)
            return count;
        std::memset(memory, 1, 4096);
    }
    return most;
}

TEST_F(Limits, MemoryEnds)
{
    constexpr int allowed = 64, far_too_much = 1024;
    End end = run_caged(
        all_layers,
        [] {
            auto map = [] {
                return mmap(nullptr, megabyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
            };
            return allocate_all(map, far_too_much);
        },
        allowed * megabyte);
    EXPECT_GT(end.answer, allowed / 2) << describe(end);
    EXPECT_LE(end.answer, allowed + 1) << describe(end);
}

TEST_F(Limits, MemoryThatIsMadeWritableLaterCountsToo)
{
    constexpr int allowed = 64, far_too_much = 1024;
    auto map = []() -> void * {
        void *memory = mmap(nullptr, megabyte, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return mprotect(memory, megabyte, PROT_READ | PROT_WRITE) == 0 ? memory : nullptr;
    };
    End end = run_caged(
        all_layers, [&] { return allocate_all(map, far_too_much); }, allowed * megabyte);
    EXPECT_GT(end.answer, allowed / 2) << describe(end);
    EXPECT_LE(end.answer, allowed + 1) << describe(end);
}

// The stack's memory counts as no data.
TEST_F(Limits, AStackCannotBeMadeHuge)
{
    End end = run_caged(
        all_layers,
        [] {
            int on_stack = 0;
            auto page = reinterpret_cast<uintptr_t>(&on_stack) & ~uintptr_t{4095};
            void *grown =
                mremap(reinterpret_cast<void *>(page), 4096, size_t{1} << 40, MREMAP_MAYMOVE);
            return grown == MAP_FAILED ? EPERM : 0;
        },
        64 * megabyte);
    EXPECT_TRUE(refused(end)) << describe(end);
}

TEST_F(Limits, DescriptorsEnd)
{
    End end = run_caged(all_layers, [] {
        int count = 0;
        while (count < 100000 && dup(0) >= 0)
            count++;
        return count;
    });
    EXPECT_GT(end.answer, 500) << describe(end);
    EXPECT_LT(end.answer, 1100) << describe(end);
}

TEST_F(Limits, NoCoreIsDumped)
{
    rlimit before = {};
    getrlimit(RLIMIT_CORE, &before);
    rlimit most = {.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_CORE, &most);
    End end = run_caged(all_layers, [] {
        signal(SIGABRT, SIG_DFL); // a sanitizer's
        return raise(SIGABRT);
    });
    setrlimit(RLIMIT_CORE, &before);
    EXPECT_EQ(end.signal, SIGABRT);
    EXPECT_FALSE(end.dumped_core);
}

TEST_F(Limits, IsTheFirstToBeEnded)
{
    End end = run_caged(limits, [] {
        char text[16] = "";
        int file = open("/proc/self/oom_score_adj", O_RDONLY);
        return read(file, text, sizeof(text) - 1) > 0 ? atoi(text) : -2;
    });
    EXPECT_GE(end.answer, 500) << describe(end);
}

// Containers and services raise their own score: that of the model's process is never lower.
TEST_F(Limits, IsTheFirstToBeEndedAmongThoseThatAreEndedFirst)
{
    for (const auto &[own, wanted] :
         {std::pair(300, 800), std::pair(800, 1000), std::pair(1000, 1000)}) {
        const pid_t middle = fork();
        if (middle == 0) {
            std::ofstream("/proc/self/oom_score_adj") << own;
            const End end = run_caged(limits, [] {
                int score = -2;
                std::ifstream("/proc/self/oom_score_adj") >> score;
                return score;
            });
            _exit(end.answer == wanted ? 0 : 1);
        }
        int status = -1;
        waitpid(middle, &status, 0);
        EXPECT_EQ(status, 0) << own;
    }
}

// Below a root of their own, so that they say what the test wants.
class ControlGroups : public testing::Test
{
protected:
    void write(const std::string &path, const std::string &text) const
    {
        std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }
    void SetUp() override
    {
        std::string pattern = testing::TempDir() + "/groups-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        root_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    std::string root_;
};

TEST_F(ControlGroups, AllOfTheMachineWithoutAny)
{
    EXPECT_EQ(dnn_torch::usable_memory_bytes(root_),
              int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
}

TEST_F(ControlGroups, TheTightestAboveCounts)
{
    write("/proc/self/cgroup", "0::/user/film");
    write("/sys/fs/cgroup/user/film/memory.max", "max");
    write("/sys/fs/cgroup/user/memory.max", "3000000");
    write("/sys/fs/cgroup/memory.max", "4000000");
    EXPECT_EQ(dnn_torch::usable_memory_bytes(root_), 3000000);
}

TEST_F(ControlGroups, TheFirstVersionCountsToo)
{
    write("/proc/self/cgroup", "5:cpu:/user\n4:memory:/film\nnonsense");
    write("/sys/fs/cgroup/memory/film/memory.limit_in_bytes", "5000000");
    EXPECT_EQ(dnn_torch::usable_memory_bytes(root_), 5000000);
}

} // namespace
