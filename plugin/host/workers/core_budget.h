// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Divides the machine's cores between workers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dnn_torch
{

// What this process may use.
struct Machine {
    size_t cores;       // at least 1; by affinity and control groups, hyperthreads not counted
    int64_t memory;     // bytes that are free or can be freed; 0 if that is not known
    size_t filters = 1; // filters of this process whose models run on the cores at the same time
};
Machine usable_machine();

// Counts as one of Machine::filters while it exists.  Any thread.
class CoreUse
{
public:
    CoreUse() noexcept;
    ~CoreUse();
    CoreUse(const CoreUse &) = delete;
    CoreUse &operator=(const CoreUse &) = delete;
};

// What the user asked for; 0 means automatic.
struct CoreRequest {
    size_t workers = 0, threads = 0, in_flight = 0;
    bool async = true;
    bool device = false;   // models run on a device: cores convert frames and feed it
    bool in_order = false; // runs depend on each other: one worker, whatever is asked for
};

// What one run on one thread costs; 0 if that is not known.
struct RunCost {
    double seconds = 0;
    int64_t bytes = 0;
    bool alone = false; // runs wait for one another: more than one worker gains nothing
};

struct CoreBudget {
    size_t workers;
    size_t threads_per_worker;
    size_t in_flight; // jobs
    size_t cores = 0; // on which the model's runs have their threads; 0: on a device
};

// Whether that many concurrent runs leave half of the memory free.
bool fits(size_t workers, const Machine &machine, const RunCost &cost);

// The most threads of all runs together.  With more, LibTorch's thread library ends the program
// instead of failing, and a system becomes unresponsive.
constexpr size_t most_threads = 1024;

// Fills in what the user left at 0, and keeps to most_threads.
// workers * threads_per_worker exceeds the cores only if the user asked for it.
//
// Each of several filters has as many workers as one alone: the scheduler gives the cores to those
// with work, in proportion to what each model costs.  But the threads of one run busy-wait for each
// other, so the cores are divided by the filters before they are divided into threads of a run.
CoreBudget divide_cores(const Machine &machine, const CoreRequest &request, const RunCost &cost);

} // namespace dnn_torch
