// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Divisions that round, also for numbers below zero, and where rows may begin.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine_torch::fused
{

inline int64_t divide_up(int64_t number, int64_t by)
{
    return number > 0 ? (number + by - 1) / by : -(-number / by);
}

inline int64_t divide_down(int64_t number, int64_t by)
{
    return -divide_up(-number, by);
}

// The alignment of rows that suits oneDNN and the processor.
constexpr size_t cache_line = 64;

inline size_t aligned(size_t bytes)
{
    return (bytes + cache_line - 1) / cache_line * cache_line;
}

} // namespace engine_torch::fused
