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
    size_t cores;                      // what this process may use, at least 1
    size_t allowed_cores;              // what its affinity allows, each hyperthread counted
    size_t physical_cores;             // to which those belong
    size_t nodes;                      // of memory, to which those belong
    double quota_cores;                // what the tightest control group allows; 0: no limit
    std::vector<std::string> features; // instructions that speed models up: "AVX2", "AMX bf16"
};

// These functions read files below `root`, which is empty except in tests.  A file
// that cannot be read counts as "not known".
CpuInfo cpu_info(const std::string &root = {});

// The number of cores that affinity and control groups allow, at least 1.  Hyperthreads of one
// core are one, see worthwhile_cores().
size_t usable_cores(const std::string &root = {});

// How many cores' worth of time the control groups (v2 or v1) allow; 0: no limit.
double quota_cores(const std::string &root = {});

// Rounds a broken quota down.  The rest serves the program's own threads; a group
// that exceeds its quota is stopped as a whole.
size_t cores_within(size_t allowed, double quota);

} // namespace dnn_torch
