// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What device-probe asks.  This code runs in a process that may hang and crash.
#pragma once

#include "devices/record.h"

#include <functional>
#include <string>

namespace dnn_torch
{

// Prints a record at once, so that it is not lost in a crash.
using Tell = std::function<void(const Record &)>;

// Tells of the loader, its drivers and devices; the keys are those of level_zero_facts().
void probe_level_zero(const Tell &tell);

// Tells of NVIDIA's driver and its devices; the keys are those of cuda_facts().
void probe_cuda(const Tell &tell);

// Tells of the engine and its library's devices; the keys are those of torch_facts().
void probe_torch(const std::string &engine_path, const Tell &tell);

} // namespace dnn_torch
