// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How processors lie to each other: which of them share a core, and which share memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dnn_torch
{

// Numbers of logical processors, as the kernel counts them, ascending.
using Processors = std::vector<size_t>;

// The part of the machine that a process may use.
struct Topology {
    Processors allowed;            // at least one
    size_t cores = 1;              // to which those belong; as many, if that is not known
    std::vector<Processors> nodes; // the allowed ones of each node of memory; at least one node
};

// These functions read files below `root`, which is empty except in tests.  A file that cannot be
// read counts as "not known".
Topology topology_of(const Processors &allowed, const std::string &root = {});

// On which processors the calling thread may run.  Empty if that is not known.
Processors allowed_processors();
Topology usable_topology(const std::string &root = {});

// On how many of them it is worth while to compute at the same time.
//
// Two hyperthreads share the units that multiply and the caches.  A convolution keeps those units
// busy alone, so a second one beside it gains little, and doubles what both need of the caches
// and of the memory.  Hence one for each core; but two on a single core: there the second works
// while the first waits for memory, and the topology of small virtual machines is often invented.
size_t worthwhile_cores(const Topology &topology);

// Keeps the calling thread, and the threads that it will start, to those of the given processors
// that it may use already.  Returns false, and changes nothing, if it may use none of them or the
// system refuses.
bool keep_to(const Processors &processors) noexcept;

// Reads "0-3,8,10-11".  Empty if any of it makes no sense.
Processors parse_processors(const std::string &text);

} // namespace dnn_torch
