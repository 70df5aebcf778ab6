// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A cache of large memory blocks.  The kernel would clear every page of a new block.  Needs no
// LibTorch.
//
// Written by hand because malloc keeps no blocks of this size.  mallopt() would change it for the
// whole program, and another malloc would replace it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace engine_torch
{

struct BlockStatistics {
    size_t in_use_bytes, peak_bytes, idle_bytes;
    uint64_t mapped, reused; // how many blocks came from the kernel, and from the cache
};

// Every member function may be called from several threads at once.
class BlockCache
{
public:
    // Smaller blocks are not worth keeping.
    static constexpr size_t smallest_bytes = size_t{64} << 10;

    BlockCache() = default;
    ~BlockCache() { trim(); }
    BlockCache(const BlockCache &) = delete;
    BlockCache &operator=(const BlockCache &) = delete;

    // Returns a block of at least `bytes` that begins at a page.  It is the caller's until give().
    // Returns null if the kernel has no memory.  Throws std::bad_alloc.
    void *take(size_t bytes);

    // Takes the block back.  Returns false and does nothing if it does not come from take().
    bool give(void *block) noexcept;

    // Sets whether to keep unused blocks.  The limit is twice the peak of the bytes in use: a net
    // whose tensors have many sizes needs more blocks altogether than at any one time.  Switching
    // it off frees the kept blocks.
    void keep_idle(bool keep) noexcept;

    // Frees all unused blocks and starts a new peak.
    void trim() noexcept;

    BlockStatistics statistics() const;

    // Call these around fork(), on the thread that calls it: the child gets an intact cache.
    void before_fork() { mutex_.lock(); }
    void after_fork() { mutex_.unlock(); }

private:
    struct Idle {
        void *start;
        uint64_t since;
    };

    std::map<size_t, std::vector<Idle>>::iterator idle_for(size_t bytes);
    void *take_idle(size_t bytes);
    void record_in_use(void *start, size_t bytes);
    bool store_idle(void *block, size_t bytes) noexcept;
    void unmap_oldest() noexcept;

    mutable std::mutex mutex_;
    // ---- under mutex_
    std::unordered_map<void *, size_t> in_use_;
    std::map<size_t, std::vector<Idle>> idle_; // by size; the longest idle block first
    BlockStatistics statistics_ = {};
    uint64_t clock_ = 0;
    bool keep_ = true;
};

// Measures the peak of the bytes that the calling thread took from all caches, less those it gave
// back, since the scope began.  Scopes do not nest.
class PeakScope
{
public:
    PeakScope() noexcept;
    int64_t peak_bytes() const noexcept;
};

} // namespace engine_torch
