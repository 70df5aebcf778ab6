// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The topology of the processors: which of them share a core, and which share a NUMA node.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dnn_torch
{

// Numbers of logical processors, as the kernel counts them, in ascending order.
using Processors = std::vector<size_t>;

// The part of the machine that a process may use.
struct Topology {
    Processors allowed;            // at least one
    size_t cores = 1;              // physical cores; if not known, one for each processor
    std::vector<Processors> nodes; // the allowed ones of each NUMA node; at least one node
};

// These functions read files below `root`, which is empty except in tests.  A file that cannot be
// read counts as "not known".
Topology topology_of(const Processors &allowed, const std::string &root = {});

// Returns the processors on which the calling thread may run.  Empty if they are not known.
Processors allowed_processors();
Topology usable_topology(const std::string &root = {});

// Returns on how many processors it is worthwhile to compute at the same time.
//
// Two hyperthreads share the multiplication units and the caches.  A convolution alone keeps those
// units busy, so a second one on the same core gains little and doubles the demand for cache and
// memory.  So one for each core; but two on a single core, because the second works while the first
// waits for memory, and the topology of small virtual machines is often invented.
size_t worthwhile_cores(const Topology &topology);

// Restricts the calling thread, and the threads that it will start, to the given processors as far
// as it may use them already.  Returns false, and changes nothing, if it may use none of them or
// the system refuses.
bool keep_to(const Processors &processors) noexcept;

// Parses "0-3,8,10-11".  Returns an empty list if any part is invalid.
Processors parse_processors(const std::string &text);

} // namespace dnn_torch
