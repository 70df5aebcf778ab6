// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the drivers of NVIDIA and Intel GPUs need in addition to what every model needs.
//
// Written from the drivers' sources and documentation.  NVIDIA's was tried, Intel's was not.
#pragma once

#include <string>
#include <vector>

namespace dnn_torch
{

// Files and folders that are read, written and passed to ioctl(): devices, and what belongs to this
// process.
std::vector<std::string> gpu_writable_paths();

// Files and folders that the drivers look up.
std::vector<std::string> gpu_readable_paths();

// Names of system calls.
const std::vector<const char *> &gpu_system_calls();

// The kinds of ioctl() requests: bits 8 to 15 of their number.
const std::vector<unsigned> &gpu_request_kinds();

} // namespace dnn_torch
