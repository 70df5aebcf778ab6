// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The processor, and how much of it this process may use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dnn_torch
{

struct CpuInfo {
    std::string model;
    size_t cores;                      // that this process may use, at least 1
    size_t allowed_cores;              // logical processors in the affinity mask
    size_t physical_cores;             // of those processors
    size_t nodes;                      // NUMA nodes of those processors
    double quota_cores;                // of the tightest control group; 0: no limit
    std::vector<std::string> features; // instructions that speed models up: "AVX2", "AMX bf16"
};

// These functions read files below `root`, which is empty except in tests.  A file
// that cannot be read counts as "not known".
CpuInfo cpu_info(const std::string &root = {});

// Returns the number of cores that affinity and control groups allow, at least 1.  Hyperthreads of
// one core count as one, see worthwhile_cores().
size_t usable_cores(const std::string &root = {});

// Returns the quota of the control groups (v2 or v1) in cores; 0: no limit.
double quota_cores(const std::string &root = {});

// Rounds a fractional quota down.  The remainder is for the program's own threads; the kernel
// stops a group that exceeds its quota as a whole.
size_t cores_within(size_t allowed, double quota);

} // namespace dnn_torch
