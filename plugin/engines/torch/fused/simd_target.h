// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a loop with the vectors of the processor found.  The compiler makes the same code once for
// each target.  Function multiversioning would do it too, but its resolvers run before a thread
// sanitizer is ready.
#pragma once

#include <cstdlib>
#include <string_view>

namespace engine_torch::fused
{

enum class SimdTarget { plain, avx2, avx512 };

#ifdef __x86_64__

// The user's ceiling.  LibTorch has the same for its own loops, and programs should give the same
// bytes with both.
inline SimdTarget highest_simd_target()
{
    const char *named = std::getenv("ATEN_CPU_CAPABILITY");
    const std::string_view name = named ? named : "";
    if (name == "default")
        return SimdTarget::plain;
    return name == "avx2" ? SimdTarget::avx2 : SimdTarget::avx512;
}

inline SimdTarget find_simd_target()
{
    const SimdTarget highest = highest_simd_target();
    if (highest == SimdTarget::avx512 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return SimdTarget::avx512;
    if (highest != SimdTarget::plain && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return SimdTarget::avx2;
    return SimdTarget::plain;
}

inline SimdTarget simd_target()
{
    static const SimdTarget target = find_simd_target();
    return target;
}

template <class Body> [[gnu::target("avx2,fma")]] void run_for_avx2(const Body &body)
{
    body();
}

template <class Body>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void run_for_avx512(const Body &body)
{
    body();
}

// `body` must be a lambda that is always inlined, and so must all that it calls.
template <class Body> void run_vectorized(const Body &body)
{
    if (simd_target() == SimdTarget::avx512)
        run_for_avx512(body);
    else if (simd_target() == SimdTarget::avx2)
        run_for_avx2(body);
    else
        body();
}

#else

inline SimdTarget simd_target()
{
    return SimdTarget::plain;
}

template <class Body> void run_vectorized(const Body &body)
{
    body();
}

#endif

} // namespace engine_torch::fused
