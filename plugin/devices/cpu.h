// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The processor: what it is, and how much of it this process may use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dnn_torch
{

struct CpuInfo {
    std::string model;
    size_t cores;                      // that this process may use, at least 1
    size_t allowed_cores;              // by its affinity
    double quota_cores;                // by the tightest of its control groups; 0: no limit
    std::vector<std::string> features; // those that models profit from: "AVX2", "AMX bf16"
};

// All of these read files below `root`, which is empty but for tests, and take
// what they cannot read for "not known".
CpuInfo cpu_info(const std::string &root = {});

// Cores by affinity and control groups, at least 1.
size_t usable_cores(const std::string &root = {});

// Cores' worth of time that control groups, v2 or v1, leave us; 0: no limit.
double quota_cores(const std::string &root = {});

// A broken quota is rounded down: what is left over serves the program's own
// threads, and a group that exceeds its quota stands still as a whole.
size_t cores_within(size_t allowed, double quota);

} // namespace dnn_torch
