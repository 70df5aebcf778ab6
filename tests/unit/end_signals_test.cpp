// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/error.h"
#include "host/workers/end_signals.h"
#include "host/workers/held_signals.h"
#include "host/workers/ordered_pool.h"
#include "host/workers/time_limit.h"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <signal.h>
#include <thread>

using namespace dnn_torch;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace
{

std::atomic<int> calls, other_calls, last_code;
sigset_t mask_inside;

void simple(int)
{
    calls++;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_inside);
}

void with_info(int, siginfo_t *info, void *context)
{
    calls++;
    last_code = context ? info->si_code : -1;
}

void other(int)
{
    other_calls++;
}

struct sigaction action_of(int number)
{
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    return now;
}

// Each test has a process of its own: a signal is remembered for some time, and handlers stay.
class EndSignalsTest : public testing::Test
{
protected:
    void in_child(void (*test)())
    {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        const auto run = [test] {
            test();
            _exit(HasFailure() ? 1 : 0);
        };
        EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
    }
};

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Raises it on another thread, as a user does.
std::thread signal_in(std::chrono::milliseconds time, int number)
{
    return std::thread([=] {
        std::this_thread::sleep_for(time);
        raise(number);
    });
}

TEST_F(EndSignalsTest, CallTheProgramsHandler)
{
    in_child([] {
        struct sigaction theirs = {};
        theirs.sa_handler = simple;
        sigaddset(&theirs.sa_mask, SIGUSR1);
        theirs.sa_flags = SA_RESTART | SA_NODEFER;
        sigaction(SIGINT, &theirs, nullptr);
        const EndSignals signals;
        EXPECT_FALSE(signals.came());
        raise(SIGINT);
        EXPECT_TRUE(signals.came());
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(sigismember(&mask_inside, SIGUSR1), 1);
        EXPECT_EQ(sigismember(&mask_inside, SIGINT), 0);
        const int flags = SA_RESTART | SA_NODEFER | SA_ONSTACK | SA_RESETHAND;
        EXPECT_EQ(action_of(SIGINT).sa_flags & flags, SA_RESTART | SA_NODEFER);
    });
}

TEST_F(EndSignalsTest, HandOnAllThatAHandlerGets)
{
    in_child([] {
        struct sigaction theirs = {};
        theirs.sa_sigaction = with_info;
        theirs.sa_flags = SA_SIGINFO;
        sigaction(SIGTERM, &theirs, nullptr);
        const EndSignals signals;
        sigqueue(getpid(), SIGTERM, {.sival_int = 3});
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(last_code, SI_QUEUE);
        EXPECT_TRUE(signals.came());
    });
}

TEST_F(EndSignalsTest, LeaveOtherSignalsAlone)
{
    in_child([] {
        signal(SIGINT, SIG_IGN);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, simple);
        const EndSignals signals;
        EXPECT_EQ(action_of(SIGINT).sa_handler, SIG_IGN);
        EXPECT_EQ(action_of(SIGTERM).sa_handler, SIG_DFL);
        EXPECT_EQ(action_of(SIGHUP).sa_handler, simple);
        raise(SIGINT);
        raise(SIGHUP);
        EXPECT_FALSE(signals.came());
    });
}

// It may call ours, which then must not call it.
TEST_F(EndSignalsTest, LeaveAHandlerThatTookOurPlace)
{
    in_child([] {
        signal(SIGINT, simple);
        const EndSignals signals;
        signal(SIGINT, other);
        EndSignals::watch();
        EXPECT_EQ(action_of(SIGINT).sa_handler, other);
        signal(SIGINT, simple);
        EndSignals::watch();
        EXPECT_NE(action_of(SIGINT).sa_handler, simple);
        raise(SIGINT);
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(other_calls, 0);
    });
}

TEST_F(EndSignalsTest, DoNotMeetThoseThatAreHeldBack)
{
    in_child([] {
        signal(SIGINT, simple);
        {
            const HeldSignals held;
            const EndSignals early;
            raise(SIGINT);
            EXPECT_EQ(calls, 0);
            EXPECT_FALSE(early.came());
        }
        EXPECT_EQ(calls, 1);
        const EndSignals signals;
        {
            const HeldSignals held;
            raise(SIGINT);
            EXPECT_FALSE(signals.came());
        }
        EXPECT_EQ(calls, 2);
        EXPECT_TRUE(signals.came());
    });
}

TEST_F(EndSignalsTest, AreRememberedForAMoment)
{
    in_child([] {
        signal(SIGINT, simple);
        const EndSignals before;
        raise(SIGINT);
        EXPECT_TRUE(EndSignals().came());
        std::this_thread::sleep_for(EndSignals::memory + 100ms);
        EXPECT_FALSE(EndSignals().came());
        EXPECT_TRUE(before.came());
    });
}

TEST_F(EndSignalsTest, EndAWaitForWork)
{
    in_child([] {
        signal(SIGINT, simple);
        const Clock::time_point start = Clock::now();
        std::thread user = signal_in(200ms, SIGINT);
        int code = 0;
        try {
            run_within({.most = 0s, .line = ""}, [] { std::this_thread::sleep_for(30s); });
        } catch (const Error &error) {
            code = error.code();
        }
        user.join();
        EXPECT_EQ(code, -ECANCELED);
        EXPECT_LT(seconds_since(start), 5);
    });
}

struct Sleep : AnyJob {
    std::chrono::milliseconds time{0};
};

struct Sleeper : PoolWorker<Sleep> {
    void run(Sleep &job) override { std::this_thread::sleep_for(job.time); }
};

std::unique_ptr<Sleep> sleep_of(std::chrono::milliseconds time)
{
    auto job = std::make_unique<Sleep>();
    job->time = time;
    return job;
}

OrderedPool<Sleep> pool_of_one()
{
    return {{.workers = 1, .capacity = 8, .timeout = 0s},
            [](size_t) { return std::make_unique<Sleeper>(); }};
}

TEST_F(EndSignalsTest, EndAWaitForAWorker)
{
    in_child([] {
        signal(SIGTERM, simple);
        const Clock::time_point start = Clock::now();
        std::thread user = signal_in(200ms, SIGTERM);
        int code = 0;
        {
            OrderedPool<Sleep> pool = pool_of_one();
            pool.submit(sleep_of(30s));
            pool.submit(sleep_of(0ms));
            try {
                pool.take();
            } catch (const Error &error) {
                code = error.code();
            }
        }
        user.join();
        EXPECT_EQ(code, -ECANCELED);
        EXPECT_LT(seconds_since(start), 5);
    });
}

TEST_F(EndSignalsTest, LetNoWorkerBegin)
{
    in_child([] {
        signal(SIGTERM, simple);
        OrderedPool<Sleep> pool = pool_of_one();
        pool.submit(sleep_of(300ms));
        pool.submit(sleep_of(0ms));
        std::this_thread::sleep_for(100ms);
        raise(SIGTERM);
        std::this_thread::sleep_for(600ms);
        EXPECT_TRUE(pool.oldest_is_due());
        EXPECT_NE(pool.take(), nullptr);
        std::this_thread::sleep_for(200ms);
        EXPECT_FALSE(pool.oldest_is_due());
    });
}

// "One line when starting takes more than a second", and one for what takes very long.
TEST(LongWaits, AreTold)
{
    std::string told;
    const LongWait wait([&told](const std::string &doing) { told += doing + ";"; }, 400ms);
    const auto nap = [](std::chrono::milliseconds time, const char *doing) {
        const NowDoing now(doing);
        run_within({.most = 0s, .line = ""}, [time] { std::this_thread::sleep_for(time); });
    };
    nap(100ms, "short");
    EXPECT_EQ(told, "");
    nap(1200ms, "long");
    nap(100ms, "another");
    EXPECT_EQ(told, "long;");
    nap(900ms, "very long"); // such as what hangs
    EXPECT_EQ(told, "long;very long;");
}

} // namespace
