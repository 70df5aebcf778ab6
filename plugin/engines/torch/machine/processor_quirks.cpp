// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "processor_quirks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <dlfcn.h>
#endif

namespace engine_torch
{
namespace
{

#if defined(__x86_64__)

bool promises_tiles_without_palettes()
{
    constexpr unsigned amx_bf16 = 1U << 22, amx_tile = 1U << 24;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & (amx_tile | amx_bf16)))
        return false;
    constexpr unsigned palettes = 0x1d;
    return !__get_cpuid_count(palettes, 0, &a, &b, &c, &d) || a == 0;
}

// The declaration is that of oneDNN's C interface, in versions 2.6 to 3.12 alike.  No suite of
// Debian installs its headers by default.
using SetMaxCpuIsa = int(int isa);
constexpr int avx512_core_bf16 = 0xe7;

// Also returns true if LibTorch does not use oneDNN.
bool limit_onednn()
{
    const auto set_max =
        reinterpret_cast<SetMaxCpuIsa *>(dlsym(RTLD_DEFAULT, "dnnl_set_max_cpu_isa"));
    return !set_max || set_max(avx512_core_bf16) == 0;
}

bool avoid()
{
    return !promises_tiles_without_palettes() || limit_onednn();
}

#else

bool avoid()
{
    return true;
}

#endif

} // namespace

bool avoid_missing_instructions()
{
    static const bool avoided = avoid();
    return avoided;
}

} // namespace engine_torch
