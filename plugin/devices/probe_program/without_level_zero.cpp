// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Replaces level_zero.cpp in a build without headers of Level Zero.
#include "probes.h"

namespace dnn_torch
{

void probe_level_zero(const PrintRecord &print)
{
    Record record;
    record.set("unsupported", "built without level_zero/ze_api.h");
    print(record);
}

} // namespace dnn_torch
