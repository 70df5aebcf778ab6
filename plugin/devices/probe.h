// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Asks drivers in a child process, because they may hang, crash and print.
#pragma once

#include "record.h"

#include <chrono>
#include <string>
#include <vector>

namespace dnn_torch
{

struct ProbeResult {
    enum class Outcome { finished, crashed, out_of_time, not_started };

    Outcome outcome;
    // The probe's output, even if the probe did not finish.
    std::vector<Record> records;
    // Part of a sentence: "signal 11", "10 s", "No such file or directory"; empty if finished.
    std::string detail;
};

inline constexpr std::chrono::milliseconds default_probe_limit{10000};

// Runs `program` with these arguments, and returns within about the limit.
//
// May be called from any thread.  The calling process may block, ignore or handle SIGCHLD, and may
// reap children that it did not start.  The child inherits only the environment, without
// LD_PRELOAD.  Throws only std::bad_alloc.
ProbeResult run_probe(const std::string &program, const std::vector<std::string> &arguments,
                      std::chrono::milliseconds limit = default_probe_limit);

} // namespace dnn_torch
