// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "memory_node.h"

#include <sched.h>

namespace engine_torch::fused
{

// The kernel answers from memory that each process maps: no call is made.
int memory_node() noexcept
{
    unsigned processor = 0, node = 0;
    return getcpu(&processor, &node) == 0 ? static_cast<int>(node) : 0;
}

} // namespace engine_torch::fused
