// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch devices: lists the devices that can run models, and why others cannot be used.
//
// With --json it prints one object.  An unknown value is null, or 0 if it is a
// number.
//
//   devices        values of the filter's option `device`; a kind ("cuda", "xpu")
//                  without any device is one entry
//     device, description, memory_bytes, usable
//     reason       why it is not usable
//     remedy       what to install or to do
//   auto           the device that device=auto chooses
//   cpu            model, features
//     usable_cores  by affinity and control groups together
//     allowed_cores, quota_cores  by each alone; quota_cores 0: no limit
//     physical_cores  the cores of the allowed processors, without hyperthreads
//     nodes        the NUMA nodes of the allowed processors
//   engine         path, name, version, onednn, onednn_instructions, openmp_threads
//   nvidia         driver (whether there is one), the cuda_version that it supports, and
//                  why it cannot be used (reason, remedy)
//     devices      name, memory_bytes
//   level_zero     loader, drivers, and why it cannot be used (reason, remedy)
//     devices      name, type, memory_bytes, compute_units, driver_version,
//                  api_version, usable, reason, remedy; device, if usable
//   device_files   path and whether this process may read and write it (permitted)
#include "installation.h"
#include "launcher_commands.h"

#include "devices/report.h"

#include <cstdio>

namespace dnn_torch
{

int devices(bool as_json)
{
    Facts facts = gather_facts(
        {.probe = find_module("device-probe").path, .engine = find_module("engine-torch.so").path});
    std::string text = as_json ? devices_json(facts) : devices_table(facts);
    return fputs(text.c_str(), stdout) < 0;
}

} // namespace dnn_torch
