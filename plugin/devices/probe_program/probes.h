// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What device-probe asks.  Runs in a process that may hang and crash.
#pragma once

#include "devices/record.h"

#include <functional>
#include <string>

namespace dnn_torch
{

// Sends a record at once, so that it outlives a crash.
using Tell = std::function<void(const Record &)>;

// The loader, what it loads, drivers and devices; keys as in level_zero_facts().
void probe_level_zero(const Tell &tell);

// NVIDIA's driver and its devices; keys as in cuda_facts().
void probe_cuda(const Tell &tell);

// The engine in this file and the devices of its library; keys as in torch_facts().
void probe_torch(const std::string &engine_path, const Tell &tell);

} // namespace dnn_torch
