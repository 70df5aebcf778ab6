// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Measures how many frames per second the filter's workers process.
#pragma once

#include "host/tasks/task.h"
#include "host/workers/worker_places.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace dnn_torch
{

struct Setting {
    size_t workers, threads;
    bool operator==(const Setting &) const = default;
};

// Returns ways to use that many cores: from one worker for each core to one worker with all of
// them, and one worker of one thread for comparison.  On a GPU the threads do not matter.  `own`,
// the filter's own choice, comes first.
std::vector<Setting> settings_to_measure(size_t cores, bool on_cpu, const Setting &own);

double seconds_since(std::chrono::steady_clock::time_point start);

// Returns the frames per second, not counting a first round.  Takes about `seconds`, but at least
// two rounds of all workers.  Throws Error, also if a run takes longer than `timeout` (0: no
// limit).
double measure_rate(const std::shared_ptr<const TaskPlan> &plan, size_t workers,
                    const WorkerPlaces &places, double seconds, std::chrono::microseconds timeout);

} // namespace dnn_torch
