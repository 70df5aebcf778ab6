// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Takes away from this process, for good, everything that running a model does not need.
//
// Inside the cage the process reads libraries and its open descriptors, computes, and answers
// through its sockets.  It opens no other file, writes none, reaches no network and no other
// process, and starts none.  docs/isolation.md describes each layer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dnn_torch
{

struct CageRules {
    // Absolute paths of files and folders that may be read besides libraries.  Missing ones are
    // skipped.
    std::vector<std::string> readable;
    // Opens the GPU if the model runs on one.  A driver loads libraries from folders of its own and
    // starts threads that the layers must bind.  So this is called twice: in a child process, to
    // see which folders those are, and when all layers but seccomp are closed.
    std::function<void()> open_gpu = nullptr;
    // What the process may allocate on top of what it has.  0: most of what the machine or
    // the control group has.
    int64_t memory_bytes = 0;

    bool uses_gpu() const { return open_gpu != nullptr; }
};

// A layer of the cage: "limits", "privileges", "Landlock", "seccomp".
struct CageLayer {
    std::string name;
    bool closed = false;
    std::string reason; // why it is not closed; empty if it is
};

// Closes the cage around this process for good.  A layer that the kernel does not grant stays
// open and says why; the others close nevertheless.  Call it with a single thread, after all
// needed libraries are loaded.  Before Linux 7.0 Landlock binds only the calling thread and those
// that it starts, so it stays open if there are other threads.  So do root's capabilities.
std::vector<CageLayer> close_cage(const CageRules &rules);

// Returns what close_cage() would return here, by trying it in a child process.  If that fails,
// no layer is closed and each says why.  Any thread.
std::vector<CageLayer> probe_cage();

} // namespace dnn_torch
