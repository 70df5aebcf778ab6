// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What running a model needs goes on working in the cage.
#include "caged.h"

#include "isolation/cage/cage.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace
{

using Cage = CageTest;

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

// A thread that is there already, such as a driver's: refused calls fail in it as well.
TEST_F(Cage, SystemCallsAreRefusedInOtherThreadsToo)
{
    End end = run_caged(0, [] {
        std::atomic<bool> closed = false;
        int error = 0;
        std::thread other([&] {
            closed.wait(false);
            error = error_of(socket(AF_INET, SOCK_STREAM, 0));
        });
        std::vector<dnn_torch::CageLayer> layers = dnn_torch::close_cage({});
        closed = true;
        closed.notify_one();
        other.join();
        return layers.back().closed ? error : -1;
    });
    EXPECT_EQ(end.answer, EPERM) << describe(end);
}

// Before Linux 7.0 it would hold one thread: a layer that lets another one through is open.
TEST_F(Cage, LandlockHoldsAllThreadsOrNone)
{
    End end = run_caged(0, [] {
        std::atomic<bool> closed = false;
        bool reads = false;
        std::thread other([&] {
            closed.wait(false);
            reads = open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
        });
        dnn_torch::CageLayer layer = dnn_torch::close_cage({}).at(2);
        closed = true;
        closed.notify_one();
        other.join();
        bool told = layer.closed == layer.reason.empty();
        return told && layer.closed != reads ? 0 : EINVAL;
    });
    EXPECT_EQ(describe(end), "came about");
}

TEST_F(Cage, DriversHaveMoreAndNotAll)
{
    SceneOfATest around;
    End end = run_caged(0, [&around] {
        for (const dnn_torch::CageLayer &layer :
             dnn_torch::close_cage({.readable = {}, .open_gpu = [] {}}))
            if (!layer.closed)
                return -1;
        int pipe_ends[2];
        if (pipe2(pipe_ends, O_CLOEXEC) != 0)
            return errno;
        bool reads = open(around.scene().secret.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
        bool connects = socket(AF_INET, SOCK_STREAM, 0) >= 0;
        return reads || connects ? EINVAL : 0;
    });
    EXPECT_EQ(describe(end), "came about");
}

// A driver's libraries lie in folders that nothing else names, and its threads are bound as well.
TEST_F(Cage, DriversAreOpenedInside)
{
    SceneOfATest around;
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(around.scene().secret).parent_path() / "driver";
    fs::create_directory(folder);
    const fs::path libraries[] = {folder / "first.so", folder / "second.so"};
    for (const fs::path &library : libraries)
        fs::copy_file(PRETENDED_DRIVER, library);
    End end = run_caged(0, [&] {
        std::thread driver;
        std::atomic<bool> is_closed = false, reads = false;
        bool is_named = false;
        auto open_gpu = [&] {
            const std::string name = "/proc/self/task/" + std::to_string(gettid()) + "/comm";
            is_named = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666) >= 0; // as CUDA does
            dlopen(libraries[0].c_str(), RTLD_NOW);
            driver = std::thread([&] {
                is_closed.wait(false);
                reads = open(around.scene().secret.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
            });
        };
        for (const dnn_torch::CageLayer &layer :
             dnn_torch::close_cage({.readable = {}, .open_gpu = open_gpu}))
            if (!layer.closed)
                return -1;
        const bool loads = dlopen(libraries[1].c_str(), RTLD_NOW) != nullptr;
        is_closed = true;
        is_closed.notify_one();
        driver.join();
        return is_named && loads && !reads ? 0 : EINVAL;
    });
    EXPECT_EQ(describe(end), "came about");
}

// What the rules name is read, and nothing beside it.
TEST_F(Cage, NamedFilesAreReadable)
{
    SceneOfATest around;
    End end = run_caged(0, [&around] {
        const Scene &scene = around.scene();
        dnn_torch::close_cage({.readable = {scene.secret, "/does/not/exist"}});
        bool secret = open(scene.secret.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
        bool extra = open(scene.spare.c_str(), O_RDONLY | O_CLOEXEC) >= 0;
        return secret && !extra ? 0 : EINVAL;
    });
    EXPECT_EQ(describe(end), "came about");
}

} // namespace
