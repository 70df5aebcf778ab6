// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// OpenBLAS takes a buffer of 128 MiB for each thread that multiplies.  Where it gets none, 0.3.21
// asks again and again, without an end, and cannot be told to stop.  So this program has an mmap()
// of its own, which libraries find before the C library's.
#include "reply.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

namespace
{

// The C library's, which takes an offset of this type whatever _FILE_OFFSET_BITS is.
using Map = void *(void *address, size_t bytes, int protection, int flags, int file, long offset);

bool is_of_blas(const void *code)
{
    Dl_info about = {};
    if (dladdr(code, &about) == 0 || !about.dli_fname)
        return false;
    const char *slash = std::strrchr(about.dli_fname, '/');
    return std::strstr(slash ? slash : about.dli_fname, "blas") != nullptr;
}

} // namespace

// The headers may have renamed mmap() to mmap64(); OpenBLAS calls mmap().
extern "C" [[gnu::visibility("default")]] void *map_for_libraries(void *address, size_t bytes,
                                                                  int protection, int flags,
                                                                  int file, long offset) noexcept
    asm("mmap");

void *map_for_libraries(void *address, size_t bytes, int protection, int flags, int file,
                        long offset) noexcept
{
    static Map *const map = reinterpret_cast<Map *>(dlsym(RTLD_NEXT, "mmap"));
    void *const start = map(address, bytes, protection, flags, file, offset);
    if (start == MAP_FAILED && errno == ENOMEM && is_of_blas(__builtin_return_address(0)))
        isolation::leave("OpenBLAS gets no memory for its buffers, one for each thread that runs "
                         "the model; lower workers or threads, or raise what limits memory "
                         "(ulimit -v, a control group)");
    return start;
}
