// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Takes from this process all that running a model does not need, for good.
//
// Beneath the cage the process reads libraries and the descriptors that it has, computes,
// and answers through its sockets.  It opens no other file, writes none, reaches no network
// and no other process, and starts none.  docs/isolation.md has what each layer holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dnn_torch
{

struct CageRules {
    // Files and folders that may be read besides libraries: absolute paths.  What does not
    // exist is left out.
    std::vector<std::string> readable;
    // Leaves open what drivers of GPUs need.  Written from their documentation and sources:
    // never tried on a device.
    bool uses_gpu = false;
    // What the process may allocate on top of what it has.  0: most of what the machine or
    // the control group has.
    int64_t memory_bytes = 0;
};

// One of the cage's sides: "limits", "privileges", "Landlock", "seccomp".
struct CageLayer {
    std::string name;
    bool closed = false;
    std::string reason; // why it is not closed; empty if it is
};

// Closes this process for good.  A layer that the kernel does not grant stays open and says
// why; the others close nevertheless.  Call it with one thread, after the libraries that
// must be loaded are loaded: before Linux 7.0 Landlock holds the calling thread and those
// that it starts, so it stays open if there are other threads.  So do root's capabilities.
std::vector<CageLayer> close_cage(const CageRules &rules);

// Returns what close_cage() would return here, found out in a process of its own.  If that
// fails, no layer is closed and each says why.  Any thread.
std::vector<CageLayer> probe_cage();

} // namespace dnn_torch
