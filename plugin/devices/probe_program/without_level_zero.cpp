// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Stands in for level_zero.cpp where a build has no headers of Level Zero.
#include "probes.h"

namespace dnn_torch
{

void probe_level_zero(const Tell &tell)
{
    Record record;
    record.set("unsupported", "built without level_zero/ze_api.h");
    tell(record);
}

} // namespace dnn_torch
