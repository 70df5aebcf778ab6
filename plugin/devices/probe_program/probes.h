// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The probes of device-probe.  They run in a process that may hang or crash.
#pragma once

#include "devices/record.h"

#include <functional>
#include <string>

namespace dnn_torch
{

// Prints a record immediately, so that a crash does not lose it.
using PrintRecord = std::function<void(const Record &)>;

// Prints the loader, its drivers and devices; level_zero_facts() reads the keys.
void probe_level_zero(const PrintRecord &print);

// Prints NVIDIA's driver and its devices; cuda_facts() reads the keys.
void probe_cuda(const PrintRecord &print);

// Prints the engine and its library's devices; engine_facts() reads the keys.
void probe_engine(const std::string &engine_path, const PrintRecord &print);

} // namespace dnn_torch
