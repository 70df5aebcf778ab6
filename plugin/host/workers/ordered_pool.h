// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A pool of worker threads that returns jobs in the order of their submission.
//
// Its states:
//
//     running  -- a job or a worker fails --> failed
//     any      -- stop(), destruction ------> stopped
//
// running  jobs are accepted and run
// failed   jobs older than the failed one are finished, younger ones are given up
// stopped  the threads are gone and so are all jobs
//
// Callers use OrderedPool<Job>.  It adds types to AnyPool, which does the work.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace dnn_torch
{

// The alignment of what several processors write, so that each has its own cache line.
constexpr size_t line_bytes = 64;

// The base class of a pool's jobs.  A worker writes to its job while others write to theirs.
class alignas(line_bytes) AnyJob
{
public:
    virtual ~AnyJob() = default;

    // What messages call it: "frame at 1.200 s".  May be empty.  Must not change once the job is
    // submitted.
    std::string where;

    // No worker begins it after that time: take() then returns it with `not_begun` set.
    std::chrono::steady_clock::time_point begin_by = std::chrono::steady_clock::time_point::max();
    bool not_begun = false;
    // After that time the same happens if a newer job waits that has such a time.
    std::chrono::steady_clock::time_point yields_after =
        std::chrono::steady_clock::time_point::max();
};

class AnyWorker
{
public:
    virtual ~AnyWorker() = default;

    // Frees what no later job will need.  Called on the worker's own thread after
    // AnyPool::release_unused(), once no job waits.
    virtual void release_unused() noexcept {}

    // Makes a run() under way end soon, with an exception.  Called from another thread.
    virtual void stop() noexcept {}

private:
    friend class AnyPool;
    virtual void run_any(AnyJob &job) = 0;
};

// Runs the jobs of one thread.  Created, used and destroyed on that thread.
template <class Job> class PoolWorker : public AnyWorker
{
public:
    // Works on the job in place.  Throws on failure.
    virtual void run(Job &job) = 0;

private:
    // The cast is safe because OrderedPool::submit() takes only this type.
    void run_any(AnyJob &job) final { run(static_cast<Job &>(job)); }
};

struct PoolSize {
    size_t workers;               // threads, at least 1
    size_t capacity;              // jobs in flight, at least 1
    std::chrono::seconds timeout; // for one job, and for the end; 0 is no limit
};

// The pool belongs to one thread; only that thread may call it.  A child of fork() has none of its
// workers.  There orphaned() is true, and only stop() and the destructor may be called; they then
// leave everything as it is.
class AnyPool
{
public:
    enum class State { running, failed, stopped };

    ~AnyPool();
    AnyPool(const AnyPool &) = delete;
    AnyPool &operator=(const AnyPool &) = delete;

    // Return how many threads there are, and why there are not more, or empty if all started.
    size_t workers() const { return worker_count_; }
    const std::string &shortfall() const { return shortfall_; }

    bool orphaned() const;
    State state() const;
    size_t in_flight() const; // jobs
    bool empty() const { return in_flight() == 0; }
    bool full() const { return in_flight() >= capacity_; }

    // Takes effect for later jobs; those in flight stay.
    void set_capacity(size_t jobs) { capacity_ = jobs; }

    // Calls each worker's release_unused() once, as soon as it has nothing else to do.
    void release_unused();

    // Whether take() would return at once.  False if nothing is in flight and nothing failed.
    bool oldest_is_due() const;

    // Waits until take() would return at once, until that time, or for a signal that ends the
    // program.  Returns whether take() would return at once, or throw.  Also fails if a run takes
    // longer than the timeout.
    bool wait_for_oldest(std::chrono::steady_clock::time_point until);

    // Gives up the oldest job: take() will return the next one.  If a worker has begun it, it goes
    // on, and OrderedPool::take_disowned() returns it.  May be called only if one is in flight.
    void disown_oldest();

    // Ends everything, and returns how many jobs were given up.  Safe to repeat.
    size_t stop();

protected:
    using MakeAnyWorker = std::function<std::unique_ptr<AnyWorker>(size_t index)>;

    AnyPool(const PoolSize &size, const MakeAnyWorker &make_worker);
    void submit_any(std::unique_ptr<AnyJob> job);
    std::unique_ptr<AnyJob> take_any();
    std::unique_ptr<AnyJob> take_disowned_any();

private:
    struct Shared;
    void start_threads(size_t count, const MakeAnyWorker &make_worker);
    void start_thread(size_t index, const MakeAnyWorker &make_worker);
    void fail_for_timeout(const AnyJob *job);
    void check_begun();
    bool wait_for_threads(std::unique_lock<std::mutex> &lock);

    std::shared_ptr<Shared> shared_;
    size_t capacity_;
    std::chrono::seconds timeout_;
    size_t worker_count_ = 0;
    std::string shortfall_;
    int process_; // to which the threads belong
};

// Creates the worker of a thread, on that thread; throws if it cannot.  The pool destroys this
// function once the worker is created.
template <class Job>
using MakeWorker = std::function<std::unique_ptr<PoolWorker<Job>>(size_t index)>;

template <class Job> class OrderedPool : public AnyPool
{
    static_assert(std::is_base_of_v<AnyJob, Job>);

public:
    // Starts as many of the threads as the system allows.  Throws Error if it allows none.
    OrderedPool(const PoolSize &size, const MakeWorker<Job> &make_worker)
        : AnyPool(size, make_worker)
    {
    }

    // May be called only while running.  May fill the pool beyond its capacity.
    void submit(std::unique_ptr<Job> job) { submit_any(std::move(job)); }

    // Waits for the oldest job and returns it.  If the job failed, throws its failure, then and in
    // all later calls.  Also throws if the wait exceeds the timeout.
    std::unique_ptr<Job> take()
    {
        return std::unique_ptr<Job>(static_cast<Job *>(take_any().release()));
    }

    // Returns a disowned job that a worker has finished, the oldest first; nullptr if there is
    // none.
    std::unique_ptr<Job> take_disowned()
    {
        return std::unique_ptr<Job>(static_cast<Job *>(take_disowned_any().release()));
    }
};

} // namespace dnn_torch
