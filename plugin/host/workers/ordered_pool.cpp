// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ordered_pool.h"

#include "base/blocked_signals.h"
#include "end_signals.h"
#include "engine_call.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;

// If `timeout` is 0, there is no end.
Clock::time_point end_of(std::chrono::seconds timeout)
{
    return timeout.count() != 0 ? Clock::now() + timeout : Clock::time_point::max();
}

struct alignas(line_bytes) InFlight {
    std::unique_ptr<AnyJob> job;
    std::exception_ptr failure;
    Clock::time_point begun{}; // by a worker
    bool done = false;
};

} // namespace

// Outlives the pool if a worker never returns.
struct AnyPool::Shared {
    std::vector<std::thread> threads; // only for the pool's thread
    const EndSignals signals;

    alignas(line_bytes) mutable std::mutex mutex;
    std::condition_variable work_came;   // wakes workers
    std::condition_variable work_is_due; // wakes the pool's thread
    // ---- under the mutex ----
    State state = State::running;
    std::deque<std::shared_ptr<InFlight>> in_flight; // in the order of submission
    std::deque<std::shared_ptr<InFlight>> waiting;   // not taken by a worker yet
    std::deque<std::shared_ptr<InFlight>> disowned;  // begun, and not in flight any more
    std::vector<AnyWorker *> workers;                // which stop() must reach
    std::exception_ptr cause;                        // the first failure in time
    std::exception_ptr reported;                     // what take() threw, and throws again
    size_t alive = 0;                                // threads
    size_t releases = 0;                             // calls of release_unused()

    bool oldest_is_due() const;
    bool is_worth_beginning(const InFlight &item) const;
    std::shared_ptr<InFlight> first_to_begin();
    void work(size_t index, MakeAnyWorker make_worker);
    void run_all(AnyWorker &worker);
    std::shared_ptr<InFlight> wait_for_job(size_t &releases_seen, bool &stop);
    void run(AnyWorker &worker, InFlight &item);
    void finish(InFlight &item, const std::exception_ptr &failure);
    void give_up(const std::exception_ptr &why);
    void add_worker(AnyWorker *worker);
    void remove_worker(AnyWorker *worker);

    enum class Wait { met, late, signalled };
    template <class IsMet>
    Wait wait(std::unique_lock<std::mutex> &lock, Clock::time_point end, IsMet is_met);
};

// Under the mutex.  A pool can fail with nothing in flight, if a worker cannot be created.
bool AnyPool::Shared::oldest_is_due() const
{
    return reported || (in_flight.empty() ? state == State::failed : in_flight.front()->done);
}

// ---- on a worker's thread ---------------------------------------------------

void AnyPool::Shared::work(size_t index, MakeAnyWorker make_worker)
{
    try {
        std::unique_ptr<AnyWorker> worker = make_worker(index);
        make_worker = nullptr;
        add_worker(worker.get());
        run_all(*worker);
        remove_worker(worker.get());
    } catch (...) {
        std::lock_guard lock(mutex);
        give_up(std::current_exception());
        work_is_due.notify_one();
    }
    std::lock_guard lock(mutex);
    alive--;
    work_is_due.notify_one();
}

void AnyPool::Shared::run_all(AnyWorker &worker)
{
    size_t releases_seen = 0;
    for (;;) {
        bool stop = false;
        std::shared_ptr<InFlight> item = wait_for_job(releases_seen, stop);
        if (stop)
            return;
        if (item)
            run(worker, *item);
        else
            worker.release_unused();
    }
}

// Under the mutex.  `item` is begun now, and `waiting` are those that came after it.
bool AnyPool::Shared::is_worth_beginning(const InFlight &item) const
{
    if (item.begun > item.job->begin_by)
        return false;
    return item.begun <= item.job->yields_after ||
           std::none_of(waiting.begin(), waiting.end(), [](const std::shared_ptr<InFlight> &later) {
               return later->job->yields_after != Clock::time_point::max();
           });
}

// Under the mutex.  Returns nullptr if no job is to be begun.
std::shared_ptr<InFlight> AnyPool::Shared::first_to_begin()
{
    // No job is begun after a signal that ends the program.
    while (!waiting.empty() && !signals.came()) {
        std::shared_ptr<InFlight> item = std::move(waiting.front());
        waiting.pop_front();
        item->begun = Clock::now();
        if (is_worth_beginning(*item))
            return item;
        item->job->not_begun = item->done = true;
        if (oldest_is_due())
            work_is_due.notify_one();
    }
    return nullptr;
}

// Returns nullptr if the worker is to end, or to release what it does not need.
std::shared_ptr<InFlight> AnyPool::Shared::wait_for_job(size_t &releases_seen, bool &stop)
{
    std::unique_lock lock(mutex);
    std::shared_ptr<InFlight> item;
    work_came.wait(lock, [&] {
        return state == State::stopped || (item = first_to_begin()) || releases != releases_seen;
    });
    stop = state == State::stopped;
    if (!item)
        releases_seen = releases;
    return item;
}

void AnyPool::Shared::run(AnyWorker &worker, InFlight &item)
{
    std::exception_ptr failure;
    try {
        worker.run_any(*item.job);
    } catch (...) {
        failure = std::current_exception();
    }
    finish(item, failure);
}

void AnyPool::Shared::finish(InFlight &item, const std::exception_ptr &failure)
{
    std::unique_lock lock(mutex);
    item.failure = failure;
    item.done = true;
    if (failure)
        give_up(failure);
    const bool is_due = oldest_is_due();
    lock.unlock(); // the woken thread would wait for it
    if (is_due)
        work_is_due.notify_one();
}

// Under the mutex.  Waiting jobs are younger than the failed one, so they are not run.
void AnyPool::Shared::give_up(const std::exception_ptr &why)
{
    if (state != State::stopped)
        state = State::failed;
    if (!cause)
        cause = why;
    for (auto &item : waiting) {
        item->failure = why;
        item->done = true;
    }
    waiting.clear();
}

void AnyPool::Shared::add_worker(AnyWorker *worker)
{
    std::lock_guard lock(mutex);
    workers.push_back(worker);
    if (state == State::stopped)
        worker->stop();
}

void AnyPool::Shared::remove_worker(AnyWorker *worker)
{
    std::lock_guard lock(mutex);
    std::erase(workers, worker);
}

// ---- on the pool's thread ---------------------------------------------------

AnyPool::AnyPool(const PoolSize &size, const MakeAnyWorker &make_worker)
    : shared_(std::make_shared<Shared>()), capacity_(size.capacity), timeout_(size.timeout),
      process_(getpid())
{
    start_threads(size.workers, make_worker);
    if (worker_count_ == 0)
        throw Error(-ENOMEM, "no worker thread can be started: " + shortfall_ +
                                 "; raise the limit of memory or of threads (ulimit -v, -u)");
}

// Stops at the first thread that cannot be started: later ones could not either.
void AnyPool::start_threads(size_t count, const MakeAnyWorker &make_worker)
try {
    BlockedSignals blocked;
    for (; worker_count_ < count; worker_count_++)
        start_thread(worker_count_, make_worker);
} catch (const std::exception &error) {
    shortfall_ = error.what();
}

AnyPool::~AnyPool()
{
    stop();
}

void AnyPool::start_thread(size_t index, const MakeAnyWorker &make_worker)
{
    {
        std::lock_guard lock(shared_->mutex);
        shared_->alive++;
    }
    try {
        shared_->threads.emplace_back([shared = shared_, index, make = make_worker]() mutable {
            shared->work(index, std::move(make));
        });
    } catch (...) {
        std::lock_guard lock(shared_->mutex);
        shared_->alive--;
        throw;
    }
    std::string name = "dnn_torch:" + std::to_string(index);
    pthread_setname_np(shared_->threads.back().native_handle(), name.substr(0, 15).c_str());
}

AnyPool::State AnyPool::state() const
{
    std::lock_guard lock(shared_->mutex);
    return shared_->state;
}

size_t AnyPool::in_flight() const
{
    std::lock_guard lock(shared_->mutex);
    return shared_->in_flight.size();
}

void AnyPool::submit_any(std::unique_ptr<AnyJob> job)
{
    auto item = std::make_shared<InFlight>();
    item->job = std::move(job);
    std::unique_lock lock(shared_->mutex);
    shared_->in_flight.push_back(item);
    // If the pool has failed meanwhile, the job is given up like those waiting then.
    if (shared_->state == State::failed) {
        item->failure = shared_->cause;
        item->done = true;
        return;
    }
    shared_->waiting.push_back(std::move(item));
    lock.unlock(); // the woken thread would wait for it
    shared_->work_came.notify_one();
}

void AnyPool::release_unused()
{
    std::lock_guard lock(shared_->mutex);
    shared_->releases++;
    shared_->work_came.notify_all();
}

bool AnyPool::oldest_is_due() const
{
    std::lock_guard lock(shared_->mutex);
    return shared_->oldest_is_due();
}

// Signals cannot wake a thread that waits here.  So this polls for one, and for handlers that the
// program has set since; short waits pay for neither.
template <class IsMet>
AnyPool::Shared::Wait AnyPool::Shared::wait(std::unique_lock<std::mutex> &lock,
                                            Clock::time_point end, IsMet is_met)
{
    constexpr Clock::duration poll_interval = std::chrono::milliseconds(20);
    for (;;) {
        if (work_is_due.wait_until(lock, std::min(Clock::now() + poll_interval, end), is_met))
            return Wait::met;
        EndSignals::watch();
        if (signals.came())
            return Wait::signalled;
        if (Clock::now() >= end)
            return Wait::late;
    }
}

// Throws Error with -ECANCELED after a signal that ends the program.
std::unique_ptr<AnyJob> AnyPool::take_any()
{
    std::unique_lock lock(shared_->mutex);
    Shared &shared = *shared_;
    switch (shared.wait(lock, end_of(timeout_), [&] { return shared.oldest_is_due(); })) {
    case Shared::Wait::met:
        break;
    case Shared::Wait::late:
        fail_for_timeout(shared.in_flight.empty() ? nullptr : shared.in_flight.front()->job.get());
        break;
    case Shared::Wait::signalled:
        throw Error(-ECANCELED, "the program was asked to end");
    }
    if (shared.reported)
        std::rethrow_exception(shared.reported);

    std::shared_ptr<InFlight> oldest;
    if (!shared.in_flight.empty()) {
        oldest = std::move(shared.in_flight.front());
        shared.in_flight.pop_front();
    }
    shared.reported = oldest ? oldest->failure : shared.cause;
    if (shared.reported)
        std::rethrow_exception(shared.reported);
    return std::move(oldest->job);
}

bool AnyPool::wait_for_oldest(Clock::time_point until)
{
    constexpr std::chrono::seconds check_interval(1);
    std::unique_lock lock(shared_->mutex);
    for (;;) {
        check_begun();
        const Clock::time_point end = std::min(until, Clock::now() + check_interval);
        if (shared_->wait(lock, end, [&] { return shared_->oldest_is_due(); }) !=
            Shared::Wait::late)
            return true;
        if (Clock::now() >= until)
            return false;
    }
}

void AnyPool::disown_oldest()
{
    std::lock_guard lock(shared_->mutex);
    std::shared_ptr<InFlight> item = std::move(shared_->in_flight.front());
    shared_->in_flight.pop_front();
    const auto waits = std::find(shared_->waiting.begin(), shared_->waiting.end(), item);
    if (waits != shared_->waiting.end())
        shared_->waiting.erase(waits);
    else
        shared_->disowned.push_back(std::move(item));
}

std::unique_ptr<AnyJob> AnyPool::take_disowned_any()
{
    std::lock_guard lock(shared_->mutex);
    auto &disowned = shared_->disowned;
    const auto done = std::find_if(disowned.begin(), disowned.end(),
                                   [](const auto &item) { return item->done && !item->failure; });
    if (done == disowned.end())
        return nullptr;
    std::unique_ptr<AnyJob> job = std::move((*done)->job);
    disowned.erase(done);
    return job;
}

// Under the mutex.  take() does not wait for these jobs, and one may never come back.
void AnyPool::check_begun()
{
    const auto is_stuck = [&](const InFlight &item) {
        return !item.done && item.begun != Clock::time_point{} &&
               Clock::now() - item.begun > timeout_;
    };
    if (timeout_.count() == 0 || shared_->state != State::running)
        return;
    for (const auto *jobs : {&shared_->disowned, &shared_->in_flight})
        for (const auto &item : *jobs)
            if (is_stuck(*item))
                return fail_for_timeout(item->job.get());
}

// Under the mutex.  Also shortens the wait of stop() for the threads.  `job` is null if no worker
// was created in time.
void AnyPool::fail_for_timeout(const AnyJob *job)
{
    const std::string where = job ? job->where : "";
    shared_->state = State::failed;
    shared_->reported = std::make_exception_ptr(Error(
        -ETIMEDOUT, where + (where.empty() ? "" : ": ") + "the model has not come back within " +
                        std::to_string(timeout_.count()) + " s; raise timeout if it may"));
    timeout_ = std::chrono::seconds(1);
}

bool AnyPool::wait_for_threads(std::unique_lock<std::mutex> &lock)
{
    constexpr std::chrono::milliseconds after_signal(80);
    auto gone = [&] { return shared_->alive == 0; };
    const Shared::Wait end = shared_->wait(lock, end_of(timeout_), gone);
    if (end == Shared::Wait::signalled)
        return shared_->work_is_due.wait_for(lock, after_signal, gone);
    return end == Shared::Wait::met;
}

bool AnyPool::orphaned() const
{
    return getpid() != process_;
}

size_t AnyPool::stop()
{
    if (orphaned()) {
        // Leaks the shared state: a thread that is not in this process may hold its lock, and its
        // data may be half written.
        new std::shared_ptr<Shared>(shared_);
        return 0;
    }
    if (shared_->threads.empty()) // an abandoned one may still be alive
        return 0;
    std::unique_lock lock(shared_->mutex);
    size_t given_up = shared_->in_flight.size();
    shared_->state = State::stopped;
    shared_->waiting.clear();
    shared_->in_flight.clear();
    shared_->disowned.clear();
    for (AnyWorker *worker : shared_->workers)
        worker->stop();
    shared_->work_came.notify_all();
    bool all_gone = wait_for_threads(lock);
    lock.unlock();
    // A worker that never returns is abandoned, and `Shared` lives on with it.
    if (!all_gone)
        watch_exit();
    for (std::thread &thread : shared_->threads)
        all_gone ? thread.join() : thread.detach();
    shared_->threads.clear();
    return given_up;
}

} // namespace dnn_torch
