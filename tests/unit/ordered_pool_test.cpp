// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failing_threads.h"
#include "host/error.h"
#include "host/workers/ordered_pool.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <utility>

using namespace dnn_torch;
using namespace std::chrono_literals;
using State = AnyPool::State;

namespace
{

struct Number : AnyJob {
    explicit Number(int number) : value(number) {}
    int value;
};

using Pool = OrderedPool<Number>;
using Work = std::function<void(Number &)>;

struct NumberWorker : PoolWorker<Number> {
    explicit NumberWorker(Work to_do) : work(std::move(to_do)) {}
    void run(Number &job) override { work(job); }
    Work work;
};

MakeWorker<Number> workers_that(Work work)
{
    return [work](size_t) { return std::make_unique<NumberWorker>(work); };
}

int take(Pool &pool)
{
    return pool.take()->value;
}

void submit(Pool &pool, int value)
{
    pool.submit(std::make_unique<Number>(value));
}

int code_of(const std::function<void()> &action)
{
    try {
        action();
    } catch (const Error &error) {
        return error.code();
    }
    return 0;
}

void nap(std::minstd_rand &random, int most_us)
{
    std::this_thread::sleep_for(
        std::chrono::microseconds(random() % static_cast<unsigned>(most_us)));
}

struct Shape {
    size_t workers, capacity;
};

class Pools : public testing::TestWithParam<Shape>
{
};

TEST_P(Pools, KeepTheOrderUnderRandomLatencies)
{
    constexpr int jobs = 400;
    Pool pool({GetParam().workers, GetParam().capacity, 60s}, workers_that([](Number &job) {
                  thread_local std::minstd_rand random(static_cast<unsigned>(job.value));
                  nap(random, 300);
                  job.value *= 3;
              }));
    int taken = 0;
    for (int i = 0; i < jobs; i++) {
        if (pool.full()) {
            EXPECT_EQ(take(pool), 3 * taken++);
        }
        submit(pool, i);
    }
    while (!pool.empty())
        EXPECT_EQ(take(pool), 3 * taken++);
    EXPECT_EQ(taken, jobs);
}

TEST_P(Pools, DeliverWhatCameBeforeAFailureAndNothingAfter)
{
    constexpr int bad = 37;
    Pool pool({GetParam().workers, GetParam().capacity, 60s}, workers_that([](Number &job) {
                  thread_local std::minstd_rand random(static_cast<unsigned>(job.value));
                  nap(random, 200);
                  if (job.value == bad)
                      throw Error(-5, "job " + std::to_string(job.value));
              }));
    int taken = 0, code = 0;
    for (int i = 0; !code && i < 1000; i++) {
        while (!code && (pool.full() || pool.oldest_is_due()))
            code = code_of([&] {
                EXPECT_EQ(take(pool), taken);
                taken++;
            });
        if (!code)
            submit(pool, i);
    }
    EXPECT_EQ(code, -5);
    EXPECT_EQ(taken, bad);
    EXPECT_EQ(pool.state(), State::failed);
    EXPECT_EQ(code_of([&] { pool.take(); }), -5) << "the failure is thrown again";
}

TEST_P(Pools, StopWithWorkInFlight)
{
    Pool pool({GetParam().workers, GetParam().capacity, 60s},
              workers_that([](Number &) { std::this_thread::sleep_for(2ms); }));
    size_t submitted = 0;
    while (!pool.full()) {
        submit(pool, 1);
        submitted++;
    }
    EXPECT_EQ(pool.stop(), submitted);
    EXPECT_EQ(pool.state(), State::stopped);
    EXPECT_EQ(pool.stop(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Pools,
                         testing::Values(Shape{1, 1}, Shape{1, 4}, Shape{2, 1}, Shape{2, 3},
                                         Shape{4, 16}),
                         [](const auto &shape) {
                             return std::to_string(shape.param.workers) + "of" +
                                    std::to_string(shape.param.capacity);
                         });

TEST(OrderedPool, AWorkerThatCannotBeMadeIsAFailure)
{
    Pool pool({2, 4, 60s},
              [](size_t) -> std::unique_ptr<NumberWorker> { throw Error(-12, "no session"); });
    submit(pool, 1);
    EXPECT_EQ(code_of([&] { pool.take(); }), -12);
}

TEST(OrderedPool, OneWorkerThatCannotBeMadeEndsWorkThatOthersDo)
{
    Pool pool({2, 4, 60s}, [](size_t index) -> std::unique_ptr<NumberWorker> {
        if (index == 1)
            throw Error(-12, "no second session");
        return std::make_unique<NumberWorker>([](Number &) { std::this_thread::sleep_for(1ms); });
    });
    int code = 0;
    for (int i = 0; !code && i < 10000; i++) {
        if (!pool.full())
            submit(pool, i);
        code = code_of([&] { pool.take(); });
    }
    EXPECT_EQ(code, -12);
}

TEST(OrderedPool, FailsWhenPatienceEnds)
{
    struct Stubborn : PoolWorker<Number> {
        std::atomic<bool> stopped{false};
        void run(Number &) override
        {
            while (!stopped)
                std::this_thread::sleep_for(1ms);
        }
        void stop() noexcept override { stopped = true; }
    };
    Pool pool({1, 2, 1s}, [](size_t) { return std::make_unique<Stubborn>(); });
    submit(pool, 1);
    submit(pool, 2);
    EXPECT_EQ(code_of([&] { pool.take(); }), -ETIMEDOUT);
    EXPECT_EQ(pool.state(), State::failed);
}

TEST(OrderedPool, LeavesAWorkerBehindThatNeverComesBack)
{
    static std::atomic<bool> release{false}, gone{false};
    {
        Pool pool({1, 1, 1s}, workers_that([](Number &) {
                      while (!release)
                          std::this_thread::sleep_for(1ms);
                      gone = true;
                  }));
        submit(pool, 1);
        EXPECT_EQ(code_of([&] { pool.take(); }), -ETIMEDOUT);
    }
    EXPECT_FALSE(gone);
    release = true;
    while (!gone)
        std::this_thread::sleep_for(1ms);
}

// What a worker keeps for jobs that no longer come is given back while it has none.
TEST(OrderedPool, WorkersRestOnceNoJobWaits)
{
    struct Resting : NumberWorker {
        Resting(std::atomic<int> &to_count, Work to_do)
            : NumberWorker(std::move(to_do)), rests(to_count)
        {
        }
        void release_unused() noexcept override { rests++; }
        std::atomic<int> &rests;
    };
    std::atomic<int> rests{0}, rests_before_the_last{0};
    Pool pool({2, 8, 60s}, [&](size_t) {
        return std::make_unique<Resting>(rests, [&](Number &) { rests_before_the_last = +rests; });
    });
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 8; i++)
            submit(pool, i);
        for (int i = 0; i < 8; i++)
            EXPECT_EQ(take(pool), i);
        EXPECT_EQ(rests_before_the_last, 2 * (round - 1)) << "nobody asked for more";
        pool.release_unused();
        while (rests < 2 * round)
            std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(rests, 6) << "each once";
}

TEST(OrderedPool, LetsGoOfWhatMadeItsWorkers)
{
    auto made_from = std::make_shared<int>(0);
    std::atomic<int> made{0};
    Pool pool({3, 4, 60s}, [&, kept = std::exchange(made_from, nullptr)](size_t) {
        made++;
        std::weak_ptr<int> seen = kept;
        return std::make_unique<NumberWorker>(
            [seen](Number &job) { job.value = static_cast<int>(seen.use_count()); });
    });
    while (made < 3)
        std::this_thread::sleep_for(1ms);
    int left = 1;
    for (int tries = 0; left && tries < 1000; tries++) {
        submit(pool, 0);
        left = take(pool);
    }
    EXPECT_EQ(left, 0);
}

// Ten thousand jobs of nothing, on many workers, one in flight: whoever sleeps is woken.
TEST(OrderedPool, NoWakingIsLost)
{
    Pool pool({6, 1, 60s}, workers_that([](Number &job) { job.value++; }));
    for (int i = 0; i < 10000; i++) {
        submit(pool, i);
        ASSERT_EQ(take(pool), i + 1);
        if (i % 100 == 0)
            pool.release_unused();
    }
}

TEST(OrderedPool, NeverUsedEndsAtOnce)
{
    Pool pool({4, 4, 60s}, workers_that([](Number &) {}));
    EXPECT_TRUE(pool.empty());
    EXPECT_FALSE(pool.full());
    EXPECT_FALSE(pool.oldest_is_due());
}

TEST(OrderedPool, ThreadsCarryAName)
{
    std::string name(16, '\0');
    Pool pool({1, 1, 60s}, workers_that([&](Number &) {
                  pthread_getname_np(pthread_self(), name.data(), name.size());
              }));
    submit(pool, 1);
    pool.take();
    EXPECT_STREQ(name.c_str(), "dnn_torch:0");
}

TEST(OrderedPool, WorkersTakeNoSignals)
{
    sigset_t mask;
    sigemptyset(&mask);
    Pool pool({1, 1, 60s},
              workers_that([&](Number &) { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }));
    submit(pool, 1);
    pool.take();
    EXPECT_EQ(sigismember(&mask, SIGINT), 1);
}

// The first job holds the worker while the others come.
TEST(OrderedPool, AJobThatWouldBeLateYieldsToANewerOne)
{
    std::vector<int> begun;
    std::promise<void> all_came;
    std::shared_future<void> came = all_came.get_future().share();
    Pool pool({1, 8, 60s}, workers_that([&, came](Number &job) {
                  came.wait();
                  begun.push_back(job.value);
              }));
    const auto now = std::chrono::steady_clock::now();
    const auto submit_late = [&](int value, std::chrono::steady_clock::time_point yields_after) {
        auto job = std::make_unique<Number>(value);
        job->yields_after = yields_after;
        pool.submit(std::move(job));
    };
    submit(pool, 0);
    submit_late(1, now);
    submit_late(2, now + 1h);
    submit_late(3, now);
    submit_late(4, now);
    submit(pool, 5); // has no such time, and is no reason
    all_came.set_value();
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(pool.take()->not_begun, i == 1 || i == 3);
    EXPECT_EQ(begun, (std::vector<int>{0, 2, 4, 5}));
}

TEST(OrderedPool, RunsWithTheThreadsThatStarted)
{
    FewThreads few(2);
    Pool pool({5, 4, 30s}, workers_that([](Number &) {}));
    EXPECT_EQ(pool.workers(), 2U);
    EXPECT_FALSE(pool.shortfall().empty());
    for (int i = 0; i < 4; i++)
        submit(pool, i);
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(take(pool), i);
}

TEST(OrderedPool, FailsWhereNoThreadStarts)
{
    FewThreads none(0);
    EXPECT_EQ(code_of([] { Pool({3, 4, 30s}, workers_that([](Number &) {})); }), -ENOMEM);
}

TEST(OrderedPool, AForkedProcessWaitsForNoThread)
{
    if (!copies_by_fork_work)
        GTEST_SKIP() << no_copies_by_fork;
    Pool pool({2, 8, 0s}, workers_that([](Number &) { std::this_thread::sleep_for(1ms); }));
    EXPECT_FALSE(pool.orphaned());
    for (int round = 0; round < 30; round++) {
        while (!pool.full())
            submit(pool, round);
        EXPECT_EQ(in_child([&] {
                      bool orphaned = pool.orphaned();
                      pool.stop();
                      return orphaned ? 7 : 8;
                  }),
                  7);
        take(pool);
    }
}

TEST(OrderedPool, AForkedProcessMayHaveItsOwn)
{
    if (!copies_by_fork_work)
        GTEST_SKIP() << no_copies_by_fork;
    Pool pool({1, 1, 30s}, workers_that([](Number &) {}));
    EXPECT_EQ(in_child([] {
                  Pool own({2, 2, 30s}, workers_that([](Number &job) { job.value++; }));
                  submit(own, 4);
                  return take(own);
              }),
              5);
}

} // namespace
