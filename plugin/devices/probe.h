// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Asking drivers in a process of its own, since they may hang, crash and print.
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
    // What the probe said, also where it did not get to its end.
    std::vector<Record> records;
    // For a sentence: "signal 11", "10 s", "No such file or directory"; empty if finished.
    std::string detail;
};

inline constexpr std::chrono::milliseconds usual_probe_limit{10000};

// Runs `program` with these arguments, and returns within about the limit.
//
// May be called from any thread, in a program that blocks, ignores or handles
// SIGCHLD as it likes, and that reaps children which are not its own.  Nothing of
// the caller's is handed to the child but the environment, less LD_PRELOAD.
// Throws std::bad_alloc alone.
ProbeResult run_probe(const std::string &program, const std::vector<std::string> &arguments,
                      std::chrono::milliseconds limit = usual_probe_limit);

} // namespace dnn_torch
