// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How much memory there is.  Any thread.
#pragma once

#include <cstdint>
#include <string>

namespace dnn_torch
{

struct MemoryInUse {
    int64_t address_bytes; // of address space
    int64_t data_bytes;    // of that, what is private and writable
};

// What this process has mapped; zeros if that is not known.
MemoryInUse memory_in_use();

// What the machine has, or what the tightest control group (v2 or v1) allows if that is
// less; 0 if nothing is known.  `root` is empty except in tests.
int64_t usable_memory_bytes(const std::string &root = {});

} // namespace dnn_torch
