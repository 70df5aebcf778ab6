// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// From Linux 5.1 on; older headers lack it.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace isolation
{
namespace
{

constexpr char memory_name[] = "dnn-torch";
constexpr int fixed_size = F_SEAL_SHRINK | F_SEAL_GROW;

Mapping map(int descriptor, size_t bytes, int protection)
{
    void *start = mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
    return start == MAP_FAILED ? Mapping() : Mapping(start, bytes);
}

dnn_torch::Descriptor make_memory(size_t bytes)
{
    if (bytes == 0 || bytes > static_cast<size_t>(std::numeric_limits<off_t>::max())) {
        errno = ENOMEM;
        return {};
    }
    dnn_torch::Descriptor memory(memfd_create(memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (memory.is_open() && ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
        return {};
    return memory;
}

bool seal(int descriptor, int seals)
{
    return fcntl(descriptor, F_ADD_SEALS, seals) == 0;
}

bool seal_for_good(int descriptor, Writer writer)
{
    if (!seal(descriptor, fixed_size))
        return false;
    // Kernels before 5.1 do not know this one.
    if (writer == Writer::host)
        seal(descriptor, F_SEAL_FUTURE_WRITE);
    return seal(descriptor, F_SEAL_SEAL);
}

size_t whole_pages(size_t bytes)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes > std::numeric_limits<size_t>::max() - page ? 0 : (bytes + page - 1) / page * page;
}

bool write_all(int descriptor, const void *contents, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t written = pwrite(descriptor, static_cast<const char *>(contents) + at,
                                       bytes - at, static_cast<off_t>(at));
        if (written < 0 && errno != EINTR)
            return false;
        at += static_cast<size_t>(std::max<ssize_t>(written, 0));
    }
    return true;
}

} // namespace

Mapping::~Mapping()
{
    if (start_)
        munmap(start_, size_);
}

SharedMemory make_shared_memory(size_t bytes, Writer writer)
{
    const size_t size = whole_pages(bytes);
    SharedMemory memory = {.descriptor = make_memory(size), .mapping = {}};
    if (!memory.descriptor.is_open())
        return memory;
    memory.mapping = map(memory.descriptor.get(), size, PROT_READ | PROT_WRITE);
    if (memory.mapping.start() && !seal_for_good(memory.descriptor.get(), writer))
        memory.mapping = Mapping();
    return memory;
}

dnn_torch::Descriptor make_constant_memory(const void *contents, size_t bytes)
{
    dnn_torch::Descriptor memory = make_memory(std::max<size_t>(bytes, 1));
    if (memory.is_open() && write_all(memory.get(), contents, bytes) &&
        seal(memory.get(), fixed_size | F_SEAL_WRITE | F_SEAL_SEAL))
        return memory;
    return {};
}

// Memory that is read beyond its end ends the process.
Mapping map_memory(int descriptor, size_t bytes, Writer writer)
{
    struct stat about = {};
    if (fstat(descriptor, &about) != 0 || static_cast<uint64_t>(about.st_size) < bytes)
        return {};
    return map(descriptor, bytes, writer == Writer::child ? PROT_READ | PROT_WRITE : PROT_READ);
}

} // namespace isolation
