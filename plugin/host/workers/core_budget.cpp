// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core_budget.h"

#include "devices/cpu.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <string>

namespace dnn_torch
{
namespace
{

std::atomic<size_t> core_uses = 0;

int64_t usable_memory()
{
    std::ifstream info("/proc/meminfo");
    std::string key, unit;
    int64_t kilobytes = 0;
    while (info >> key >> kilobytes && std::getline(info, unit))
        if (key == "MemAvailable:")
            return kilobytes * 1024;
    return 0;
}

// More workers than this would wait for frames, because the filter's own thread needs some time
// for each frame.  It needs least for small ones (`benchmarks/run.py feeding`: 50 to 120 us).  One
// worker too many only waits, which costs less than one too few.
size_t most_that_can_be_fed(double run_seconds)
{
    constexpr double feeding_seconds = 100e-6, most = 4096;
    return static_cast<size_t>(std::clamp(std::ceil(run_seconds / feeding_seconds), 1.0, most));
}

// The threads of one run wait for each other at each layer.  In a cheap run they would do little
// else.
size_t choose_threads(size_t cores, size_t workers, const CoreRequest &request, const RunCost &cost)
{
    constexpr double cheap_seconds = 5e-3;
    if (request.threads)
        return std::min(request.threads, std::max<size_t>(most_threads / workers, 1));
    bool cheap = cost.seconds > 0 && cost.seconds < cheap_seconds;
    return cheap || request.device ? 1 : std::max<size_t>(cores / workers, 1);
}

// Concurrent runs share nothing and do not wait for each other.  So one thread for each run gives
// the highest rate, as long as there is memory for all.
size_t choose_workers(const Machine &machine, const CoreRequest &request, const RunCost &cost)
{
    // A device needs four workers: one uploads, one computes, one downloads, one converts.
    constexpr size_t most_of_unknown_cost = 4;
    bool known = cost.seconds > 0 && !request.device;
    size_t most = known ? most_that_can_be_fed(cost.seconds) : most_of_unknown_cost;
    if (request.in_flight)
        most = std::min(most, request.in_flight);
    size_t workers = std::max<size_t>(machine.cores / std::max<size_t>(request.threads, 1), 1);
    workers = std::min(workers, most);
    while (workers > 1 && !fits(workers, machine, cost))
        workers = (workers + 1) / 2;
    return workers;
}

CoreBudget divide(const Machine &machine, const CoreRequest &request, const RunCost &cost)
{
    if (!request.async) // only one filter of a graph runs at a time
        return {.workers = 1,
                .threads_per_worker = choose_threads(machine.cores, 1, request, cost),
                .in_flight = 1};
    size_t workers = request.in_order || cost.alone ? 1
                     : request.workers              ? request.workers
                                                    : choose_workers(machine, request, cost);
    const size_t share = std::max<size_t>(machine.cores / machine.filters, 1);
    size_t threads = choose_threads(share, workers, request, cost);
    // One more job than workers, so that no worker waits for the filter's thread.
    return {.workers = workers,
            .threads_per_worker = threads,
            .in_flight = request.in_flight ? request.in_flight : workers + 1};
}

} // namespace

Machine usable_machine()
{
    return {.cores = usable_cores(),
            .memory = usable_memory(),
            .filters = std::max<size_t>(core_uses.load(), 1)};
}

CoreUse::CoreUse() noexcept
{
    core_uses++;
}

CoreUse::~CoreUse()
{
    core_uses--;
}

bool fits(size_t workers, const Machine &machine, const RunCost &cost)
{
    return !machine.memory || !cost.bytes ||
           static_cast<int64_t>(workers) <= machine.memory / 2 / cost.bytes;
}

CoreBudget divide_cores(const Machine &machine, const CoreRequest &request, const RunCost &cost)
{
    CoreBudget budget = divide(machine, request, cost);
    if (!request.device)
        budget.cores = std::min(budget.workers * budget.threads_per_worker, machine.cores);
    return budget;
}

} // namespace dnn_torch
