// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a loop with the vectors of the processor found.  The compiler makes the same code once for
// each target.  Function multiversioning would do it too, but its resolvers run before a thread
// sanitizer is ready.
#pragma once

namespace engine_torch::fused
{

enum class SimdTarget { plain, avx2, avx512 };

#ifdef __x86_64__

inline SimdTarget find_simd_target()
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return SimdTarget::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SimdTarget::avx2;
    return SimdTarget::plain;
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
    static const SimdTarget target = find_simd_target();
    if (target == SimdTarget::avx512)
        run_for_avx512(body);
    else if (target == SimdTarget::avx2)
        run_for_avx2(body);
    else
        body();
}

#else

template <class Body> void run_vectorized(const Body &body)
{
    body();
}

#endif

} // namespace engine_torch::fused
