// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a frame costs in locks, waits and allocations when many workers run.  They sleep instead of
// computing, so a few processors serve 64.
#include "filter_graph.h"
#include "host/tasks/task.h"
#include "host/workers/ordered_pool.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <map>
#include <new>
#include <pthread.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

// A sanitizer has its own locks and memory.
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
constexpr bool can_count = false;
#else
constexpr bool can_count = true;
#endif

namespace
{

struct Counts {
    long locks = 0, waits = 0, allocations = 0;
    long switches = 0; // that the thread made because it waited
};

std::atomic<long> waits_of_all{0}, allocations_of_all{0};
thread_local Counts of_thread;

Counts counts_here()
{
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    Counts now = of_thread;
    now.switches = usage.ru_nvcsw;
    return now;
}

} // namespace

#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
// Counts the locks that a thread did not get at once.  What a condition variable does when a
// thread wakes up stays inside glibc: such waits are seen as switches.
extern "C" int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept
{
    of_thread.locks++;
    if (pthread_mutex_trylock(mutex) == 0)
        return 0;
    of_thread.waits++;
    waits_of_all++;
    using Lock = int(pthread_mutex_t *);
    static const auto real = reinterpret_cast<Lock *>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    return real(mutex);
}

void *operator new(size_t bytes)
{
    of_thread.allocations++;
    allocations_of_all++;
    if (void *made = std::malloc(bytes))
        return made;
    throw std::bad_alloc();
}
void *operator new(size_t bytes, std::align_val_t alignment)
{
    of_thread.allocations++;
    allocations_of_all++;
    const auto line = static_cast<size_t>(alignment);
    if (void *made = std::aligned_alloc(line, (bytes + line - 1) / line * line))
        return made;
    throw std::bad_alloc();
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
[[gnu::noinline]] void operator delete(void *it, std::align_val_t) noexcept
{
    std::free(it);
}
[[gnu::noinline]] void operator delete(void *it, size_t, std::align_val_t) noexcept
{
    std::free(it);
}
#endif

namespace dnn_torch
{
namespace
{

// All workers together begin so many jobs a second, however many they are.
constexpr auto time_of_a_job = std::chrono::microseconds(400);
constexpr int jobs_before = 200, jobs = 1600;

struct Nap : AnyJob {
    size_t worker = 0;
    Counts counts; // of the worker's thread, when it began
};

struct Napper : PoolWorker<Nap> {
    Napper(size_t own_number, std::chrono::microseconds how_long)
        : number(own_number), time(how_long)
    {
    }
    void run(Nap &job) override
    {
        job.worker = number;
        job.counts = counts_here();
        std::this_thread::sleep_for(time);
    }
    size_t number;
    std::chrono::microseconds time;
};

struct Sums {
    long jobs = 0;
    Counts counts;

    void add(const Counts &later, const Counts &earlier)
    {
        counts.locks += later.locks - earlier.locks;
        counts.waits += later.waits - earlier.waits;
        counts.allocations += later.allocations - earlier.allocations;
        counts.switches += later.switches - earlier.switches;
    }
    double of_a_job(long count) const
    {
        return static_cast<double>(count) / static_cast<double>(jobs);
    }
};

// What frames cost on the threads of the workers, and on the one that feeds them.
struct Costs {
    Sums workers, feeder;
};

void print(const char *what, size_t count, const Sums &sums)
{
    std::printf("%3zu workers, %s: %.3f locks, %.4f waits for one, %.3f allocations, %.3f switches "
                "a frame\n",
                count, what, sums.of_a_job(sums.counts.locks), sums.of_a_job(sums.counts.waits),
                sums.of_a_job(sums.counts.allocations), sums.of_a_job(sums.counts.switches));
}

Costs measure(size_t workers)
{
    const auto time = time_of_a_job * workers;
    OrderedPool<Nap> pool(
        {.workers = workers, .capacity = workers + 1, .timeout = std::chrono::seconds(60)},
        [&](size_t number) { return std::make_unique<Napper>(number, time); });
    Costs costs;
    std::map<size_t, Counts> last; // of each worker
    Counts before;
    for (int i = 0; i < jobs_before + jobs; i++) {
        if (i == jobs_before)
            before = counts_here();
        while (!pool.full())
            pool.submit(std::make_unique<Nap>());
        const std::unique_ptr<Nap> done = pool.take();
        if (i < jobs_before)
            continue;
        const Counts own = of_thread; // the map's allocations are the test's
        if (const auto known = last.find(done->worker); known != last.end()) {
            costs.workers.jobs++;
            costs.workers.add(done->counts, known->second);
        }
        last[done->worker] = done->counts;
        of_thread = own;
    }
    costs.feeder.jobs = jobs;
    costs.feeder.add(counts_here(), before);
    print("each of them", workers, costs.workers);
    print("who feeds them", workers, costs.feeder);
    return costs;
}

class ManyWorkers : public testing::TestWithParam<size_t>
{
protected:
    void SetUp() override
    {
        if (!can_count)
            GTEST_SKIP() << "a sanitizer has its own locks and memory";
    }
};

// The bounds are the same for any number of workers.  What is up to the system's moods has room.
TEST_P(ManyWorkers, PayForAFrameWhatOnePays)
{
    const Costs costs = measure(GetParam());
    const Sums &worker = costs.workers, &feeder = costs.feeder;
    EXPECT_EQ(worker.counts.locks, 2 * worker.jobs) << "to take a job, and to hand it back";
    EXPECT_EQ(worker.counts.allocations, 0);
    EXPECT_LE(worker.of_a_job(worker.counts.switches), 2.5) << "the nap, and the wait for a job";
    EXPECT_LE(worker.of_a_job(worker.counts.waits), 0.25);
    EXPECT_LE(feeder.of_a_job(feeder.counts.locks), 4.1) << "full() twice, submit() and take()";
    EXPECT_LE(feeder.of_a_job(feeder.counts.allocations), 2.5) << "the job, and its place";
    EXPECT_LE(feeder.of_a_job(feeder.counts.switches), 1.5);
    EXPECT_LE(feeder.of_a_job(feeder.counts.waits), 0.25);
}

INSTANTIATE_TEST_SUITE_P(Numbers, ManyWorkers, testing::Values(1, 4, 16, 64),
                         testing::PrintToStringParamName());

TEST(Jobs, HaveLinesOfTheirOwn)
{
    static_assert(alignof(FrameJob) >= line_bytes && sizeof(FrameJob) % line_bytes == 0);
    std::vector<std::unique_ptr<Nap>> naps;
    for (int i = 0; i < 64; i++)
        naps.push_back(std::make_unique<Nap>());
    for (const auto &nap : naps)
        EXPECT_EQ(reinterpret_cast<uintptr_t>(nap.get()) % line_bytes, 0U);
}

// ---- the whole filter -----------------------------------------------------------

struct OfFrames {
    double waits, allocations; // a frame
};

OfFrames measure_filter(int workers)
{
    const long latency = workers * static_cast<long>(time_of_a_job.count());
    Graph graph("latency_us " + std::to_string(latency) + "\n",
                "threads=1:workers=" + std::to_string(workers));
    EXPECT_EQ(graph.status(), 0);
    const auto pass = [&](int from, int until) {
        for (int i = from; i < until; i++) {
            graph.send(i);
            graph.receive();
        }
    };
    pass(0, jobs_before);
    const long waits = waits_of_all, allocations = allocations_of_all;
    pass(jobs_before, jobs_before + jobs);
    const OfFrames found = {static_cast<double>(waits_of_all - waits) / jobs,
                            static_cast<double>(allocations_of_all - allocations) / jobs};
    std::printf("%3d workers in the filter: %.4f waits for a lock, %.2f allocations a frame\n",
                workers, found.waits, found.allocations);
    EXPECT_EQ(graph.end(), 0);
    graph.receive();
    EXPECT_EQ(graph.received(), jobs_before + jobs);
    return found;
}

TEST(Filter, PaysForAFrameTheSameWithManyWorkers)
{
    if (!can_count)
        GTEST_SKIP() << "a sanitizer has its own locks and memory";
    const OfFrames few = measure_filter(2), many = measure_filter(64);
    EXPECT_LE(few.waits, 0.5);
    EXPECT_LE(many.waits, 0.5);
    EXPECT_NEAR(many.allocations, few.allocations, 1);
}

} // namespace
} // namespace dnn_torch

int main(int argc, char **argv)
{
    return dnn_torch::run_filter_tests(argc, argv);
}
