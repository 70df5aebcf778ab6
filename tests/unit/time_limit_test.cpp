// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/error.h"
#include "host/workers/background.h"
#include "host/workers/engine_call.h"
#include "host/workers/time_limit.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

constexpr std::chrono::microseconds long_enough = 30s;

TEST(TimeLimit, HandsTheValueBack)
{
    EXPECT_EQ(value_within({long_enough, ""}, [] { return 7; }), 7);
    auto owned = value_within({0s, ""}, [] { return std::make_unique<int>(8); });
    EXPECT_EQ(*owned, 8);
}

TEST(TimeLimit, HandsTheExceptionBack)
{
    auto failing = []() -> int { throw Error(-EDOM, "no such number"); };
    try {
        value_within({long_enough, ""}, failing);
        FAIL() << "nothing was thrown";
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), -EDOM);
        EXPECT_STREQ(error.what(), "no such number");
    }
}

TEST(TimeLimit, RunsOnAThreadThatTakesNoSignals)
{
    auto other = value_within({long_enough, ""}, [] {
        sigset_t blocked;
        pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return std::pair(std::this_thread::get_id(), sigismember(&blocked, SIGINT));
    });
    EXPECT_NE(other.first, std::this_thread::get_id());
    EXPECT_EQ(other.second, 1);
}

struct Held {
    std::atomic<bool> *gone;
    ~Held() { *gone = true; }
};

TEST(TimeLimit, LeavesWhatNeverComesBackWithAllThatItUses)
{
    static std::atomic<bool> go_on, gone;
    go_on = gone = false;
    auto held = std::make_shared<Held>(&gone);
    auto work = [held] {
        while (!go_on)
            std::this_thread::sleep_for(1ms);
    };
    held.reset();
    auto started = std::chrono::steady_clock::now();
    try {
        run_within({100ms, "too slow; raise timeout"}, std::move(work));
        FAIL() << "nothing was thrown";
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), -ETIMEDOUT);
        EXPECT_STREQ(error.what(), "too slow; raise timeout");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
    EXPECT_FALSE(gone);
    go_on = true;
    for (int i = 0; i < 10000 && !gone; i++)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(gone);
}

TEST(Background, HandsTheValueOverOnceItIsThere)
{
    std::atomic<bool> go_on = false;
    BackgroundValue<int> value([&go_on] {
        while (!go_on)
            std::this_thread::sleep_for(1ms);
        return 7;
    });
    EXPECT_FALSE(value.is_done());
    go_on = true;
    for (int i = 0; i < 10000 && !value.is_done(); i++)
        std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(value.is_done());
    EXPECT_EQ(value.take(), 7);
}

TEST(Background, IsLeftToItselfByWhoeverGoesFirst)
{
    static std::atomic<bool> go_on, gone;
    go_on = gone = false;
    auto held = std::make_shared<Held>(&gone);
    {
        Background work([held] {
            while (!go_on)
                std::this_thread::sleep_for(1ms);
        });
        held.reset();
    }
    EXPECT_FALSE(gone);
    go_on = true;
    for (int i = 0; i < 10000 && !gone; i++)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(gone);
}

TEST(TimeLimit, TellsSeconds)
{
    EXPECT_EQ(in_seconds(2s), "2 s");
    EXPECT_EQ(in_seconds(1500ms), "1.5 s");
    EXPECT_EQ(in_seconds(600s), "600 s");
}

// ---- the end of the process -------------------------------------------------

// Whether a thread that was left to itself by another test is still there.
bool has_abandoned_thread()
{
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "comm");
        std::string name;
        if (std::getline(file, name) && name == "dnn_torch:model")
            return true;
    }
    return false;
}

// fork() copies the locks of the thread sanitizer (of GCC 12), and not the threads that hold
// them: a child that needs one waits for ever.  A child that was forked beside other threads
// may start none of its own there, either.
void wait_for_abandoned_threads()
{
    for (int i = 0; i < 10000 && has_abandoned_thread(); i++)
        std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(has_abandoned_thread());
}

// What a child does that runs `body` and exits with 3; in `late` it tells of a
// destructor of a static object.
int status_of_child(void (*body)(), bool &late)
{
    constexpr unsigned patience_s = 60;
    wait_for_abandoned_threads();
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    static int write_end;
    write_end = ends[1];
    pid_t child = fork();
    if (child == 0) {
        alarm(patience_s);
        atexit([] { (void)!write(write_end, "x", 1); });
        body();
        exit(3);
    }
    close(ends[1]);
    char byte;
    late = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

void expect_exit(void (*body)(), bool destructors_run)
{
    bool late = false;
    int status = status_of_child(body, late);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_EQ(late, destructors_run);
}

void be_inside(std::chrono::milliseconds time)
{
    static std::atomic<bool> inside;
    inside = false;
    std::thread([time] {
        EngineCall call;
        inside = true;
        std::this_thread::sleep_for(time);
    }).detach();
    while (!inside)
        std::this_thread::yield();
}

TEST(EngineCall, ExitIsAsEverWhereNoneIsUnderWay)
{
    expect_exit([] { EngineCall call; }, true);
}

TEST(EngineCall, ExitSkipsDestructorsBesideOneThatStays)
{
    expect_exit([] { be_inside(1h); }, false);
}

TEST(EngineCall, ExitWaitsForOneThatIsNearlyDone)
{
    expect_exit([] { be_inside(20ms); }, true);
}

TEST(EngineCall, ExitInASignalHandlerIsNoOther)
{
    auto body = [] {
        be_inside(1h);
        signal(SIGTERM, [](int) { exit(3); });
        raise(SIGTERM);
    };
    expect_exit(body, false);
}

TEST(EngineCall, ExitIsNotInterruptedByAnother)
{
    auto body = [] {
        be_inside(1h);
        signal(SIGTERM, [](int) { exit(3); });
        std::thread([] {
            for (;; std::this_thread::sleep_for(5ms))
                kill(getpid(), SIGTERM);
        }).detach();
        std::this_thread::sleep_for(1h);
    };
    expect_exit(body, false);
}

TEST(EngineCall, ThoseOfTheParentAreNotTheChildS)
{
    std::promise<void> is_inside, may_leave;
    std::thread inside([&] {
        EngineCall call;
        is_inside.set_value();
        may_leave.get_future().wait();
    });
    is_inside.get_future().wait();
    std::this_thread::sleep_for(50ms); // until it waits, and holds no lock
    expect_exit([] {}, true);
    may_leave.set_value();
    inside.join();
}

} // namespace
