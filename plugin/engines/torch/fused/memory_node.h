// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where a thread's memory is, on machines with several nodes of it.
#pragma once

namespace engine_torch::fused
{

// Returns the node of the processor that the calling thread runs on; 0 if there is only one.
// Memory is on the node of the thread that writes to it first.
int memory_node() noexcept;

} // namespace engine_torch::fused
