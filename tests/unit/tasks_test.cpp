// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames become jobs, jobs run on workers that follow their plans.
#include "fake_tasks.h"
#include "host/tasks/frame_gatherer.h"
#include "host/tasks/task_worker.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <thread>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

using Numbers = std::vector<int>;

FrameItem item_of(int number, bool bypass = false)
{
    return {.frame = numbered_frame(number),
            .bypass = bypass,
            .arrival = Clock::now(),
            .number = number};
}

template <class Frame> Numbers numbers_of(const std::vector<Frame> &frames)
{
    Numbers numbers;
    for (const Frame &frame : frames)
        numbers.push_back(number_of(frame));
    return numbers;
}

// The numbers of the frames in each job that is complete.
std::vector<Numbers> jobs_of(FrameGatherer &gatherer)
{
    std::vector<Numbers> jobs;
    while (std::unique_ptr<FrameJob> job = gatherer.next()) {
        Numbers numbers;
        for (const FrameItem &item : job->items)
            numbers.push_back(static_cast<int>(item.number));
        jobs.push_back(numbers);
    }
    return jobs;
}

std::shared_ptr<FakePlan> plan_of(Window window, size_t batch_size = 1,
                                  PerFrame per_frame = each_third)
{
    return std::make_shared<FakePlan>(std::move(per_frame), window, batch_size);
}

// ---- gathering ------------------------------------------------------------------

TEST(Gatherer, PutsFramesIntoJobsOfTheirPlansSize)
{
    FrameGatherer gatherer;
    auto plan = plan_of({}, 3);
    for (int number = 0; number < 7; number++)
        gatherer.add(item_of(number), plan);
    EXPECT_EQ(jobs_of(gatherer), (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(gatherer.frames(), 1U);
    gatherer.end_batch();
    EXPECT_EQ(gatherer.frames(), 1U) << "it is still here until it is taken";
    EXPECT_EQ(jobs_of(gatherer), (std::vector<Numbers>{{6}}));
    EXPECT_EQ(gatherer.frames(), 0U);
    gatherer.flush();
    EXPECT_EQ(gatherer.next(), nullptr);
}

TEST(Gatherer, AJobGoesPastTheModelOrThroughIt)
{
    FrameGatherer gatherer;
    auto plan = plan_of({}, 4);
    for (int number = 0; number < 6; number++)
        gatherer.add(item_of(number, number == 2 || number == 3), plan);
    gatherer.flush();
    EXPECT_EQ(jobs_of(gatherer), (std::vector<Numbers>{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(Gatherer, AnotherPlanBeginsAnotherJob)
{
    FrameGatherer gatherer;
    auto first = plan_of({}, 4), second = plan_of({}, 2);
    gatherer.add(item_of(0), first);
    for (int number = 1; number < 4; number++)
        gatherer.add(item_of(number), second);
    EXPECT_EQ(gatherer.next()->plan, first);
    std::unique_ptr<FrameJob> job = gatherer.next();
    EXPECT_EQ(job->plan, second);
    EXPECT_EQ(job->items.size(), 2U);
    EXPECT_EQ(gatherer.next(), nullptr) << "the second one is not full";
}

// The frame that each job begins with, and how far behind another job it is.
std::vector<std::pair<int64_t, int64_t>> places_of(FrameGatherer &gatherer)
{
    std::vector<std::pair<int64_t, int64_t>> places;
    while (std::unique_ptr<FrameJob> job = gatherer.next())
        places.emplace_back(job->items.front().number, job->predecessor_distance);
    return places;
}

using Places = std::vector<std::pair<int64_t, int64_t>>;

TEST(Gatherer, SaysWhichJobIsBehindWhich)
{
    FrameGatherer gatherer;
    auto plan = plan_of({}, 2);
    for (int number = 3; number < 8; number++)
        gatherer.add(item_of(number), plan);
    gatherer.flush();
    gatherer.add(item_of(8), plan);
    gatherer.flush();
    EXPECT_EQ(places_of(gatherer), (Places{{3, 0}, {5, 2}, {7, 2}, {8, 1}}));
}

TEST(Gatherer, NoJobIsBehindOneThatBypassesTheModel)
{
    FrameGatherer gatherer;
    auto plan = plan_of({});
    for (int number = 0; number < 7; number++)
        gatherer.add(item_of(number, number % 3 != 1), plan);
    gatherer.flush();
    EXPECT_EQ(places_of(gatherer),
              (Places{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 3}, {5, 0}, {6, 0}}));
}

TEST(Gatherer, NoJobIsBehindOneOfAnotherPlan)
{
    FrameGatherer gatherer;
    auto first = plan_of({}), second = plan_of({});
    for (int number = 0; number < 6; number++)
        gatherer.add(item_of(number), number < 2 || number > 3 ? first : second);
    EXPECT_EQ(places_of(gatherer), (Places{{0, 0}, {1, 1}, {2, 0}, {3, 1}, {4, 0}, {5, 1}}));
}

TEST(Gatherer, NoJobIsBehindOneThatMayHaveNoRun)
{
    FrameGatherer gatherer;
    auto plan = plan_of({});
    plan->may_not_run = 2;
    for (int number = 0; number < 5; number++)
        gatherer.add(item_of(number), plan);
    EXPECT_EQ(places_of(gatherer), (Places{{0, 0}, {1, 1}, {2, 0}, {3, 0}, {4, 1}}));
}

TEST(Gatherer, GivesEachFrameItsNeighbours)
{
    FrameGatherer gatherer;
    auto plan = plan_of({.before = 2, .after = 1}, 2);
    std::map<int64_t, std::pair<Numbers, Numbers>> seen;
    auto look = [&] {
        while (std::unique_ptr<FrameJob> job = gatherer.next())
            for (const FrameItem &item : job->items) {
                EXPECT_EQ(number_of(item.frame), item.number);
                seen[item.number] = {numbers_of(item.before), numbers_of(item.after)};
            }
    };
    for (int number = 0; number < 5; number++) {
        gatherer.add(item_of(number), plan);
        look();
    }
    EXPECT_EQ(seen.size(), 4U) << "the last one waits for its neighbour";
    EXPECT_EQ(gatherer.frames(), 1U);
    gatherer.flush();
    look();
    gatherer.add(item_of(9), plan); // nothing before it any more
    gatherer.flush();
    look();
    using Both = std::pair<Numbers, Numbers>;
    EXPECT_EQ(seen[0], Both({}, {1}));
    EXPECT_EQ(seen[1], Both({0}, {2}));
    EXPECT_EQ(seen[3], Both({1, 2}, {4}));
    EXPECT_EQ(seen[4], Both({2, 3}, {}));
    EXPECT_EQ(seen[9], Both({}, {}));
}

// A new plan for the same frames begins within a window; the neighbours stay.
TEST(Gatherer, AWindowReachesOverAChangeOfPlans)
{
    FrameGatherer gatherer;
    auto first = plan_of({.before = 1, .after = 1}), second = plan_of({.before = 1, .after = 1});
    gatherer.add(item_of(0), first);
    gatherer.add(item_of(1), second);
    gatherer.add(item_of(2), second);
    gatherer.flush();
    std::unique_ptr<FrameJob> job = gatherer.next();
    EXPECT_EQ(job->plan, first);
    EXPECT_EQ(numbers_of(job->items[0].after), Numbers{1});
    job = gatherer.next();
    EXPECT_EQ(job->plan, second);
    EXPECT_EQ(numbers_of(job->items[0].before), Numbers{0});
}

// Frame n shows n; returns who follows whom, and the times of the frames that are left.
std::pair<std::map<int, Numbers>, Numbers> pairs_of(const std::vector<int64_t> &times)
{
    FrameGatherer gatherer;
    auto plan = plan_of({.after = 1});
    plan->rate = {50, 1};
    std::map<int, Numbers> followers;
    Numbers left;
    const auto look = [&] {
        while (std::unique_ptr<FrameJob> job = gatherer.next())
            for (const FrameItem &item : job->items) {
                followers[number_of(item.frame)] = numbers_of(item.after);
                left.push_back(static_cast<int>(item.frame->pts));
            }
    };
    for (size_t i = 0; i < times.size(); i++) {
        FrameItem item = item_of(static_cast<int>(i));
        item.frame->pts = times[i];
        gatherer.add(std::move(item), plan);
        look();
    }
    gatherer.flush();
    look();
    return {followers, left};
}

// As `fps` has it: the later one is shown, at the time of the earlier one.
TEST(Gatherer, OfFramesAtOneTimeTheLastOneCounts)
{
    using Followers = std::map<int, Numbers>;
    const int64_t none = AV_NOPTS_VALUE;
    EXPECT_EQ(pairs_of({0, 2, 2, 4}),
              (std::pair(Followers{{0, {2}}, {2, {3}}, {3, {}}}, Numbers{0, 2, 4})));
    EXPECT_EQ(pairs_of({0, 0, 0, 4}), (std::pair(Followers{{2, {3}}, {3, {}}}, Numbers{0, 4})));
    EXPECT_EQ(pairs_of({0, 4, 1, none, 6, 6}),
              (std::pair(Followers{{0, {3}}, {3, {5}}, {5, {}}}, Numbers{0, 4, 6})));
}

TEST(Gatherer, AFrameOfAnotherSceneStaysOneIfALaterOneTakesItsPlace)
{
    FrameGatherer gatherer;
    auto plan = plan_of({.after = 1});
    plan->rate = {50, 1};
    for (const int number : {0, 1, 2, 3}) {
        FrameItem item = item_of(number);
        item.starts_anew = item.is_cut = number == 1;
        item.frame->pts = std::min(number, 1);
        gatherer.add(std::move(item), plan);
    }
    gatherer.flush();
    const std::unique_ptr<FrameJob> job = gatherer.next();
    EXPECT_TRUE(job->items[0].after.empty());
    EXPECT_EQ(job->items[0].successor.kind, Successor::Kind::cut);
}

// ---- tasks on workers -----------------------------------------------------------

// All that comes of frames 0 to `count` - 1.
Numbers results_of(const std::shared_ptr<FakePlan> &plan, int count, size_t workers)
{
    OrderedPool<FrameJob> pool({.workers = workers, .capacity = workers + 1, .timeout = 60s},
                               [&](size_t) { return std::make_unique<TaskWorker>(plan); });
    FrameGatherer gatherer;
    Numbers results;
    auto take = [&] {
        std::unique_ptr<FrameJob> job = pool.take();
        for (const FrameItem &item : job->items)
            for (int number : numbers_of(item.results))
                results.push_back(number);
    };
    auto submit = [&] {
        while (std::unique_ptr<FrameJob> job = gatherer.next()) {
            if (pool.full())
                take();
            pool.submit(std::move(job));
        }
    };
    for (int number = 0; number < count; number++) {
        gatherer.add(item_of(number), plan);
        submit();
    }
    gatherer.flush();
    submit();
    while (!pool.empty())
        take();
    return results;
}

class Tasks : public testing::TestWithParam<std::pair<size_t, size_t>> // batch, workers
{
};

TEST_P(Tasks, AWindowOfThree)
{
    auto [batch, workers] = GetParam();
    auto plan = plan_of({.before = 1, .after = 1}, batch, sum_of_window);
    EXPECT_EQ(results_of(plan, 6, workers), (Numbers{1, 3, 6, 9, 12, 9}));
    EXPECT_EQ(results_of(plan, 1, workers), Numbers{0});
    EXPECT_EQ(results_of(plan, 0, workers), Numbers{});
}

TEST_P(Tasks, MoreFramesOutThanIn)
{
    auto [batch, workers] = GetParam();
    auto plan = plan_of({.after = 1}, batch, doubled);
    Numbers wanted;
    for (int number = 0; number < 20; number++)
        wanted.insert(wanted.end(), {number, number});
    EXPECT_EQ(results_of(plan, 20, workers), wanted);
}

TEST_P(Tasks, FewerFramesOutThanIn)
{
    auto [batch, workers] = GetParam();
    EXPECT_EQ(results_of(plan_of({}, batch, each_third), 11, workers), (Numbers{0, 3, 6, 9}));
}

INSTANTIATE_TEST_SUITE_P(All, Tasks,
                         testing::Values(std::pair{1U, 1U}, std::pair{1U, 4U}, std::pair{3U, 2U}));

// ---- workers and plans ------------------------------------------------------------

std::unique_ptr<FrameJob> job_with(const std::shared_ptr<const TaskPlan> &plan, int number)
{
    auto job = std::make_unique<FrameJob>();
    job->plan = plan;
    job->items.push_back(item_of(number));
    return job;
}

template <class Condition> bool comes_true(Condition condition)
{
    for (int tries = 0; tries < 5000 && !condition(); tries++)
        std::this_thread::sleep_for(1ms);
    return condition();
}

// A result tells which plan has made it.
std::shared_ptr<FakePlan> plan_that_adds(int number, std::atomic<int> &open_sessions)
{
    auto plan = plan_of({}, 1, [number](FrameItem &item) {
        std::this_thread::sleep_for(100us * (item.number % 4));
        item.results.push_back(numbered_frame(number_of(item.frame) + number));
    });
    plan->open_sessions = &open_sessions;
    return plan;
}

TEST(Plans, TakeOverAtAFramesEdgeWhileThePoolRuns)
{
    constexpr size_t workers = 3;
    std::atomic<int> sessions[5] = {};
    std::shared_ptr<FakePlan> plan = plan_that_adds(0, sessions[0]);
    OrderedPool<FrameJob> pool({.workers = workers, .capacity = 6, .timeout = 60s},
                               [plan](size_t) { return std::make_unique<TaskWorker>(plan); });
    int taken = 0;
    auto take = [&] {
        int wanted = taken + 100 * (taken / 20);
        EXPECT_EQ(number_of(pool.take()->items[0].results[0]), wanted % 256);
        taken++;
    };
    for (int number = 0; number < 100; number++) {
        if (number && number % 20 == 0)
            plan = plan_that_adds(100 * (number / 20), sessions[number / 20]);
        if (pool.full())
            take();
        pool.submit(job_with(plan, number));
    }
    while (!pool.empty())
        take();
    pool.release_unused();
    for (int i = 0; i < 4; i++)
        EXPECT_TRUE(comes_true([&] { return sessions[i] == 0; }))
            << "sessions of a plan without jobs stay open: " << sessions[i];
    EXPECT_LE(sessions[4], static_cast<int>(workers));
    EXPECT_GE(sessions[4], 1) << "those of the plan in use stay";
}

TEST(Plans, AreKeptForAsLongAsAJobHasThem)
{
    std::atomic<int> sessions{0};
    std::shared_ptr<const TaskPlan> plan = plan_that_adds(1, sessions);
    OrderedPool<FrameJob> pool({.workers = 1, .capacity = 2, .timeout = 60s},
                               [plan](size_t) { return std::make_unique<TaskWorker>(plan); });
    pool.submit(job_with(plan, 1));
    std::unique_ptr<FrameJob> job = pool.take();
    pool.release_unused();
    std::weak_ptr<const TaskPlan> seen = plan;
    plan.reset();
    pool.release_unused();
    EXPECT_EQ(seen.use_count(), 1) << "the worker does not hold it";
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(sessions, 1);
    job.reset();
    pool.release_unused();
    EXPECT_TRUE(comes_true([&] { return sessions == 0; }));
}

TEST(Plans, AWorkerClosesTheLastSessionBeforeItOpensTheNext)
{
    std::atomic<int> sessions{0};
    TaskWorker worker(plan_that_adds(1, sessions));
    EXPECT_EQ(sessions, 1);
    auto next = plan_of({}, 1, [&](FrameItem &) { EXPECT_EQ(sessions, 1); });
    next->open_sessions = &sessions;
    worker.run(*job_with(next, 0));
    worker.release_unused();
    EXPECT_EQ(sessions, 1) << "its plan is still there";
}

// The next plan's jobs come and find a worker that works.
TEST(Plans, ASessionThatCannotBeOpenedFailsItsJobAlone)
{
    std::atomic<int> sessions{0};
    auto plan = plan_that_adds(1, sessions);
    TaskWorker worker(plan);
    auto refused = plan_of({});
    refused->refuses = true;
    EXPECT_THROW(worker.run(*job_with(refused, 0)), Error);
    std::unique_ptr<FrameJob> job = job_with(plan, 4);
    worker.run(*job);
    EXPECT_EQ(numbers_of(job->items[0].results), Numbers{5});
}

TEST(Plans, AnErrorNamesItsFrame)
{
    auto plan = plan_of({}, 1, [](FrameItem &) { throw Error(-5, "out of luck"); });
    TaskWorker worker(plan);
    try {
        worker.run(*job_with(plan, 50));
        FAIL();
    } catch (const Error &error) {
        EXPECT_STREQ(error.what(), "frame at 2.000 s: out of luck");
        EXPECT_EQ(error.code(), -5);
    }
}

} // namespace
