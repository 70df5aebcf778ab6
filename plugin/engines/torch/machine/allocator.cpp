// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "allocator.h"

#include "engine_kit/block_cache.h"
#include "engine_kit/fork_safety.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cstring>
#include <mutex>

namespace engine_torch
{
namespace
{

std::mutex mutex;
// Changed under mutex.
std::atomic<int> users{0};

thread_local int scopes = 0;

// Never destroyed: tensors may outlive every static object.
BlockCache &blocks()
{
    static BlockCache *const cache = new BlockCache;
    return *cache;
}

// Also frees what LibTorch's own allocator allocated before ours was set: oneDNN frees memory with
// the allocator that is in place.
void free_memory(void *memory)
{
    if (memory && !blocks().give(memory))
        c10::GetDefaultCPUAllocator()->raw_deleter()(memory);
}

class TensorAllocator final : public c10::Allocator
{
public:
    // LibTorch 1.13 and 2.2 declare the first one, later ones the second.
    // NOLINTBEGIN(modernize-use-override)
    virtual c10::DataPtr allocate(size_t bytes) const { return allocate_memory(bytes); }
    virtual c10::DataPtr allocate(size_t bytes) { return allocate_memory(bytes); }
    virtual c10::DeleterFnPtr raw_deleter() const { return &free_memory; }
    virtual void copy_data(void *to, const void *from, size_t bytes) const
    {
        std::memcpy(to, from, bytes);
    }
    // NOLINTEND(modernize-use-override)

private:
    static void *take(size_t bytes)
    {
        void *memory = blocks().take(bytes);
        if (memory)
            return memory;
        blocks().trim();
        return blocks().take(bytes);
    }

    // LibTorch's own allocator takes small blocks, and blocks that are not for a model of ours.  It
    // also has the words for a failed allocation.
    static c10::DataPtr allocate_memory(size_t bytes)
    {
        const bool ours = bytes >= BlockCache::smallest_bytes && scopes > 0 && users > 0;
        void *memory = ours ? take(bytes) : nullptr;
        if (!memory)
            return c10::GetDefaultCPUAllocator()->allocate(bytes);
        return {memory, memory, &free_memory, c10::Device(c10::DeviceType::CPU)};
    }
};

void install_once()
{
    static const bool installed = [] {
        if (c10::GetCPUAllocator() != c10::GetDefaultCPUAllocator())
            return false;
        c10::SetCPUAllocator(new TensorAllocator);
        keep_over_fork<mutex>();
        pthread_atfork([] { blocks().before_fork(); }, [] { blocks().after_fork(); },
                       [] { blocks().after_fork(); });
        return true;
    }();
    static_cast<void>(installed);
}

} // namespace

AllocatorUse::AllocatorUse()
{
    install_once();
    const std::lock_guard<std::mutex> lock(mutex);
    if (users++ == 0)
        blocks().keep_idle(true);
}

AllocatorUse::~AllocatorUse()
{
    const std::lock_guard<std::mutex> lock(mutex);
    if (--users == 0)
        blocks().keep_idle(false);
}

MemoryScope::MemoryScope() noexcept
{
    scopes++;
}

MemoryScope::~MemoryScope()
{
    scopes--;
}

void trim_allocator() noexcept
{
    blocks().trim();
}

} // namespace engine_torch
