// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A stranger in the cage: each attempt must fail, and what models need must go on working.
#include "caged.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace
{

std::vector<Attempt> all_attempts()
{
    std::vector<Attempt> all = attempts_at_files();
    for (const std::vector<Attempt> &more : {attempts_at_others(), attempts_at_the_kernel()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

class Stranger : public testing::TestWithParam<Attempt>
{
protected:
    static End attempt(unsigned layers)
    {
        SceneOfATest around;
        return run_caged(layers, [&around] { return GetParam().act(around.scene()); });
    }
};

// Otherwise the attempt would prove nothing.
TEST_P(Stranger, SucceedsWithoutCage)
{
    Outside outside = GetParam().outside;
    if (outside == Outside::depends || (outside == Outside::works_as_root && geteuid() != 0))
        return;
    End end = attempt(0);
    EXPECT_TRUE(end.silent || (end.answer == 0 && !end.signal)) << describe(end);
}

TEST_P(Stranger, IsRefused)
{
    if (std::string reason = not_granted(all_layers); !reason.empty())
        GTEST_SKIP() << reason;
    End end = attempt(all_layers);
    EXPECT_TRUE(refused(end)) << describe(end);
    std::printf("%s: %s\n", GetParam().name, describe(end).c_str());
}

// Where a kernel lacks one layer, the others still hold.
TEST_P(Stranger, IsRefusedByEachLayerThatHoldsIt)
{
    for (unsigned layer : {limits, privileges, landlock, seccomp}) {
        if (!(GetParam().held_by & layer) || !not_granted(layer).empty())
            continue;
        End end = attempt(layer);
        EXPECT_TRUE(refused(end)) << "layer " << layer << ": " << describe(end);
    }
}

INSTANTIATE_TEST_SUITE_P(Attempts, Stranger, testing::ValuesIn(all_attempts()),
                         [](const auto &attempt) { return std::string(attempt.param.name); });

class Cage : public testing::Test
{
protected:
    void SetUp() override
    {
        if (std::string reason = not_granted(all_layers); !reason.empty())
            GTEST_SKIP() << reason;
    }
};
class Limits : public Cage
{
};

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
        [] { return allocate_all([] { return malloc(size_t{megabyte}); }, far_too_much); },
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

TEST_F(Cage, ThreadsStartAndWakeOneAnother)
{
    End end = run_caged(all_layers, [] {
        std::mutex lock;
        std::condition_variable changed;
        int ready = 0;
        std::array<std::thread, 8> threads;
        for (std::thread &thread : threads)
            thread = std::thread([&] {
                pthread_setname_np(pthread_self(), "worker");
                std::lock_guard held(lock);
                ready++;
                changed.notify_one();
            });
        std::unique_lock held(lock);
        changed.wait(held, [&] { return ready == 8; });
        held.unlock();
        for (std::thread &thread : threads)
            thread.join();
        return 0;
    });
    EXPECT_EQ(describe(end), "came about");
}

// OMP_PROC_BIND does so, and OpenMP ends the process if it fails.
TEST_F(Cage, ThreadsMayBeBoundToCores)
{
    End end = run_caged(all_layers, [] {
        cpu_set_t cores;
        int error = error_of(sched_getaffinity(0, sizeof(cores), &cores));
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setaffinity_np(&attributes, sizeof(cores), &cores);
        pthread_t thread;
        if (!error)
            error = pthread_create(
                &thread, &attributes, [](void *value) { return value; }, nullptr);
        return error ? error : pthread_join(thread, nullptr);
    });
    EXPECT_EQ(describe(end), "came about");
}

TEST_F(Cage, CodeThatWasMadeRuns)
{
    End end = run_caged(all_layers, [] {
        void *memory =
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return errno;
        int error = error_of(mprotect(memory, 4096, PROT_READ | PROT_EXEC));
        munmap(memory, 4096);
        memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return error || memory != MAP_FAILED ? error : errno;
    });
    EXPECT_EQ(describe(end), "came about");
}

// One of the C library's that nothing here is linked with.
TEST_F(Cage, LibrariesAreLoaded)
{
    static constexpr char name[] = "libanl.so.1";
    ASSERT_EQ(dlopen(name, RTLD_NOW | RTLD_NOLOAD), nullptr);
    End end = run_caged(all_layers, [] { return dlopen(name, RTLD_NOW) ? 0 : ENOENT; });
    EXPECT_EQ(describe(end), "came about");
}

TEST_F(Cage, ClocksAndChanceWork)
{
    End end = run_caged(all_layers, [] {
        timespec moment = {};
        char chance[16];
        timespec nap = {.tv_sec = 0, .tv_nsec = 1000};
        if (int error = error_of(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &moment)))
            return error;
        if (int error = error_of(clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr)))
            return error;
        return error_of(getrandom(chance, sizeof(chance), 0));
    });
    EXPECT_EQ(describe(end), "came about");
}

TEST_F(Cage, TheMachineIsKnown)
{
    End end = run_caged(all_layers, [] {
        for (const char *path :
             {"/proc/cpuinfo", "/proc/meminfo", "/proc/self/maps", "/dev/urandom"})
            if (open(path, O_RDONLY | O_CLOEXEC) < 0)
                return errno;
        return sysconf(_SC_NPROCESSORS_ONLN) > 0 && sysconf(_SC_PHYS_PAGES) > 0 ? 0 : EPERM;
    });
    EXPECT_EQ(describe(end), "came about");
}

TEST_F(Cage, WhatWasHandedOverIsRead)
{
    SceneOfATest around;
    int file = around.scene().readable;
    End end = run_caged(all_layers, [file] {
        char text[6];
        void *memory = mmap(nullptr, 6, PROT_READ, MAP_PRIVATE, file, 0);
        if (memory == MAP_FAILED)
            return errno;
        return error_of(pread(file, text, sizeof(text), 0));
    });
    EXPECT_EQ(describe(end), "came about");
}

// What the protocol of the isolated engine is made of.
TEST_F(Cage, SocketsThatItHasTakeMessagesAndDescriptors)
{
    int lane[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lane), 0);
    ASSERT_EQ(send(lane[0], "ask", 3, 0), 3);
    End end = run_caged(all_layers, [&] {
        char text[8];
        iovec part = {.iov_base = text, .iov_len = sizeof(text)};
        msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (recvmsg(lane[1], &message, MSG_CMSG_CLOEXEC) < 0)
            return errno;
        return error_of(send(lane[1], "answer", 6, MSG_NOSIGNAL));
    });
    EXPECT_EQ(describe(end), "came about");
    char answer[8];
    EXPECT_EQ(recv(lane[0], answer, sizeof(answer), MSG_DONTWAIT), 6);
    close(lane[0]);
    close(lane[1]);
}

// The areas that hold frames.
TEST_F(Cage, MemoryThatIsSharedWithTheHostIsMapped)
{
    int area = memfd_create("area", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(ftruncate(area, 4096), 0);
    ASSERT_EQ(fcntl(area, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    End end = run_caged(all_layers, [area] {
        void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, area, 0);
        if (memory == MAP_FAILED)
            return errno;
        std::strcpy(static_cast<char *>(memory), "result");
        return fcntl(area, F_GET_SEALS) > 0 ? 0 : errno;
    });
    EXPECT_EQ(describe(end), "came about");
    char result[7] = "";
    EXPECT_EQ(pread(area, result, 6, 0), 6);
    EXPECT_STREQ(result, "result");
    close(area);
}

TEST_F(Cage, ItMaySignalItself)
{
    End end = run_caged(all_layers, [] {
        signal(SIGUSR1, SIG_IGN);
        return raise(SIGUSR1) == 0 && kill(getpid(), SIGUSR1) == 0 ? 0 : errno;
    });
    EXPECT_EQ(describe(end), "came about");
}

} // namespace
