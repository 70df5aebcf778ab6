// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How many frames a second the filter's own workers make.
#pragma once

#include "host/tasks/task.h"

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

// Ways to use that many cores: from a worker for each to one worker with them
// all, and one worker of one thread, to compare with.  On a device, threads do not
// matter.  `own`, what the filter would choose, comes first.
std::vector<Setting> settings_to_measure(size_t cores, bool on_cpu, const Setting &own);

// Frames a second, after a first round that does not count.  Takes about that
// many seconds, but at least two rounds of all workers.  Throws Error, also where a
// run takes longer than `timeout` (0: no limit).
double measure_rate(const std::shared_ptr<const TaskPlan> &plan, size_t workers, double seconds,
                    std::chrono::microseconds timeout);

} // namespace dnn_torch
