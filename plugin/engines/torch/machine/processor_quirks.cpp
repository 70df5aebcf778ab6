// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "processor_quirks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <dlfcn.h>
#include <initializer_list>
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

// Whether neither Intel's leaf nor AMD's describes a cache.
bool hides_caches()
{
    constexpr unsigned of_intel = 4, of_amd = 0x8000001d, kind = 0x1f;
    for (const unsigned leaf : {of_intel, of_amd}) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid_count(leaf, 0, &a, &b, &c, &d) && (a & kind) != 0)
            return false;
    }
    return true;
}

// The declarations are those of oneDNN's C interface, in versions 2.6 to 3.12 alike.  No suite of
// Debian installs its headers by default.
using SetMaxCpuIsa = int(int isa);
struct OneDnnVersion {
    int major, minor; // and more
};
using GetVersion = const OneDnnVersion *();
constexpr int sse41 = 0x1, avx512_core_bf16 = 0xe7;

template <class Function> Function *of_onednn(const char *name)
{
    return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
}

bool needs_sizes_of_caches()
{
    const auto get_version = of_onednn<GetVersion>("dnnl_version");
    const OneDnnVersion *const version = get_version ? get_version() : nullptr;
    return version && version->major == 3 && version->minor < 12;
}

// Also returns true if LibTorch does not use oneDNN.
bool limit_onednn(int isa)
{
    const auto set_max = of_onednn<SetMaxCpuIsa>("dnnl_set_max_cpu_isa");
    return !set_max || set_max(isa) == 0;
}

bool avoid()
{
    if (hides_caches() && needs_sizes_of_caches()) {
        limit_onednn(sse41);
        return false;
    }
    return !promises_tiles_without_palettes() || limit_onednn(avx512_core_bf16);
}

#else

bool avoid()
{
    return true;
}

#endif

} // namespace

bool avoid_unsound_instructions()
{
    static const bool avoided = avoid();
    return avoided;
}

} // namespace engine_torch
