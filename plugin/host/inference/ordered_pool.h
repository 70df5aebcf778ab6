// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A pool of worker threads that hands jobs back in the order in which they came.
//
// States, and what leads from one to the next:
//
//     running  -- drain() ------------------> draining
//     running, draining -- a job fails -----> failed
//     any      -- stop(), destruction ------> stopped
//
// running   jobs are taken in and worked on
// draining  no more jobs come; those in flight are finished
// failed    jobs older than the failed one are finished, younger ones are given up
// stopped   the threads are gone and so are all jobs
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace dnn_torch
{

class Job
{
public:
    virtual ~Job() = default;
};

// What one thread works with.  Made, used and destroyed on that thread.
class Worker
{
public:
    virtual ~Worker() = default;

    // Works on the job in place; throws what went wrong.
    virtual void run(Job &job) = 0;

    // Called from another thread: ends a run() under way, soon and with an exception.
    virtual void stop() noexcept {}
};

// Makes the worker of a thread, on that thread; throws where it cannot.
using MakeWorker = std::function<std::unique_ptr<Worker>(size_t index)>;

struct PoolSize {
    size_t workers;                // threads, at least 1
    size_t capacity;               // jobs in flight, at least 1
    std::chrono::seconds patience; // for one job, and for the end; 0 has no limit
};

// The pool belongs to one thread, which alone may call it.  A process that was forked
// since has no worker of it: there orphaned() is true, and nothing else but stop() and
// the destructor may be called, which then leave all as it is.
class OrderedPool
{
public:
    enum class State { running, draining, failed, stopped };

    // Starts the threads, as many as the system gives; throws Error where it gives none.
    OrderedPool(const PoolSize &size, MakeWorker make_worker);
    ~OrderedPool();
    OrderedPool(const OrderedPool &) = delete;
    OrderedPool &operator=(const OrderedPool &) = delete;

    // How many threads there are, and why there are no more of them; empty where all are.
    size_t workers() const { return worker_count_; }
    const std::string &shortfall() const { return shortfall_; }

    bool orphaned() const;
    State state() const;
    size_t in_flight() const; // jobs
    bool empty() const { return in_flight() == 0; }
    bool full() const { return in_flight() >= capacity_; }

    // Only while running.  May fill it beyond its capacity.
    void submit(std::unique_ptr<Job> job);

    // No more jobs will come.
    void drain();

    // Whether take() would not wait.  False where nothing is in flight.
    bool oldest_is_due() const;

    // Waits for the oldest job and hands it over.  Throws its failure, then for
    // ever after; throws as well when the patience is at its end.
    std::unique_ptr<Job> take();

    // Ends everything; returns how many jobs were given up.  Safe to repeat.
    size_t stop();

private:
    struct Shared;
    void start_threads(size_t count, const MakeWorker &make_worker);
    void start_thread(size_t index, const MakeWorker &make_worker);
    void fail_for_impatience();
    bool wait_for_threads(std::unique_lock<std::mutex> &lock);

    std::shared_ptr<Shared> shared_;
    size_t capacity_;
    std::chrono::seconds patience_;
    size_t worker_count_ = 0;
    std::string shortfall_;
    int process_; // that the threads are of
};

} // namespace dnn_torch
