// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A pool of worker threads that hands jobs back in the order in which they came.
//
// Its states:
//
//     running  -- a job or a worker fails --> failed
//     any      -- stop(), destruction ------> stopped
//
// running  jobs are taken in and worked on
// failed   jobs older than the failed one are finished, younger ones are given up
// stopped  the threads are gone and so are all jobs
//
// Others use OrderedPool<Job>.  It adds types to AnyPool, which does the work.
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

// What two processors write by turns lies this far apart: in lines of the cache of its own.
constexpr size_t line_bytes = 64;

// The base class of a pool's jobs.  A worker writes to its job while others write to theirs.
class alignas(line_bytes) AnyJob
{
public:
    virtual ~AnyJob() = default;

    // What messages call it: "frame at 1.200 s".  May be empty.  Nobody changes it once the job
    // was submitted.
    std::string where;
};

class AnyWorker
{
public:
    virtual ~AnyWorker() = default;

    // Gives back what no later job will need.  Called on the worker's own thread after
    // release_unused(), once no job waits.
    virtual void rest() noexcept {}

    // Ends a run() under way, soon and with an exception.  Called from another thread.
    virtual void stop() noexcept {}

private:
    friend class AnyPool;
    virtual void run_any(AnyJob &job) = 0;
};

// Works on the jobs of one thread.  Made, used and destroyed on that thread.
template <class Job> class PoolWorker : public AnyWorker
{
public:
    // Works on the job in place; throws what went wrong.
    virtual void run(Job &job) = 0;

private:
    // The cast is safe: OrderedPool::submit() takes no other jobs.
    void run_any(AnyJob &job) final { run(static_cast<Job &>(job)); }
};

struct PoolSize {
    size_t workers;                // threads, at least 1
    size_t capacity;               // jobs in flight, at least 1
    std::chrono::seconds patience; // for one job, and for the end; 0 is no limit
};

// The pool belongs to one thread, which alone may call it.  A child of fork() has none of
// its workers.  There orphaned() is true, and only stop() and the destructor may be called;
// they then leave everything as it is.
class AnyPool
{
public:
    enum class State { running, failed, stopped };

    ~AnyPool();
    AnyPool(const AnyPool &) = delete;
    AnyPool &operator=(const AnyPool &) = delete;

    // How many threads there are; and why there are not more, or empty if all started.
    size_t workers() const { return worker_count_; }
    const std::string &shortfall() const { return shortfall_; }

    bool orphaned() const;
    State state() const;
    size_t in_flight() const; // jobs
    bool empty() const { return in_flight() == 0; }
    bool full() const { return in_flight() >= capacity_; }

    // For the jobs to come; those in flight stay.
    void set_capacity(size_t jobs) { capacity_ = jobs; }

    // Has each worker rest() once, as soon as it has nothing else to do.
    void release_unused();

    // Whether take() would not wait.  False if nothing is in flight and nothing failed.
    bool oldest_is_due() const;

    // Ends everything; returns how many jobs were given up.  Safe to repeat.
    size_t stop();

protected:
    using MakeAnyWorker = std::function<std::unique_ptr<AnyWorker>(size_t index)>;

    AnyPool(const PoolSize &size, const MakeAnyWorker &make_worker);
    void submit_any(std::unique_ptr<AnyJob> job);
    std::unique_ptr<AnyJob> take_any();

private:
    struct Shared;
    void start_threads(size_t count, const MakeAnyWorker &make_worker);
    void start_thread(size_t index, const MakeAnyWorker &make_worker);
    void fail_for_impatience();
    bool wait_for_threads(std::unique_lock<std::mutex> &lock);

    std::shared_ptr<Shared> shared_;
    size_t capacity_;
    std::chrono::seconds patience_;
    size_t worker_count_ = 0;
    std::string shortfall_;
    int process_; // to which the threads belong
};

// Makes the worker of a thread, on that thread; throws if it cannot.  The pool lets go of
// this function once the worker is made.
template <class Job>
using MakeWorker = std::function<std::unique_ptr<PoolWorker<Job>>(size_t index)>;

template <class Job> class OrderedPool : public AnyPool
{
    static_assert(std::is_base_of_v<AnyJob, Job>);

public:
    // Starts as many of the threads as the system gives; throws Error if it gives none.
    OrderedPool(const PoolSize &size, const MakeWorker<Job> &make_worker)
        : AnyPool(size, make_worker)
    {
    }

    // Call it only while running.  It may fill the pool beyond its capacity.
    void submit(std::unique_ptr<Job> job) { submit_any(std::move(job)); }

    // Waits for the oldest job and hands it over.  If the job failed, throws its failure,
    // then and in all later calls.  Throws as well if waiting exceeds the patience.
    std::unique_ptr<Job> take()
    {
        return std::unique_ptr<Job>(static_cast<Job *>(take_any().release()));
    }
};

} // namespace dnn_torch
