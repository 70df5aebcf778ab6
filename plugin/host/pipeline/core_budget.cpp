// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core_budget.h"

#include <algorithm>
#include <sched.h>

namespace dnn_torch {

size_t usable_cores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return static_cast<size_t>(std::max(CPU_COUNT(&set), 1));
}

CoreBudget divide_cores(size_t cores, size_t workers, size_t threads, size_t in_flight, bool async)
{
    // Each worker holds the activations of a whole picture: beyond four, memory costs more
    // than the parts of a model that do not scale over threads.
    constexpr size_t most_workers = 4;

    if (!async)
        return {1, threads ? threads : cores, 1};
    if (!workers) {
        workers = std::min(threads ? std::max<size_t>(cores / threads, 1) : cores, most_workers);
        workers = in_flight ? std::min(workers, in_flight) : workers;
    }
    if (!threads)
        threads = std::max<size_t>(cores / workers, 1);
    // One more than are worked on, so that no worker waits for the filter's thread.
    return {workers, threads, in_flight ? in_flight : workers + 1};
}

} // namespace dnn_torch
