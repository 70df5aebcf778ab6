// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "block_cache.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace engine_torch
{
namespace
{

constexpr size_t huge_page_bytes = size_t{2} << 20;
constexpr size_t largest_bytes = std::numeric_limits<size_t>::max() / 4;

thread_local int64_t thread_bytes = 0, thread_peak_bytes = 0;

void count_for_thread(int64_t bytes) noexcept
{
    thread_bytes += bytes;
    thread_peak_bytes = std::max(thread_peak_bytes, thread_bytes);
}

size_t page_bytes()
{
    static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

bool starts_page(const void *block)
{
    return reinterpret_cast<uintptr_t>(block) % page_bytes() == 0;
}

// Rounds up to one of eight sizes per power of two: few blocks then serve many requests, and less
// than an eighth of a block is wasted.
size_t size_class(size_t bytes)
{
    const size_t step = std::max(std::bit_floor(bytes) / 8, page_bytes());
    return (bytes + step - 1) / step * step;
}

void unmap(void *start, size_t bytes) noexcept
{
    if (bytes > 0)
        munmap(start, bytes);
}

void *map_pages(size_t bytes) noexcept
{
    void *start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
}

// Aligns the mapping to the size of huge pages, without which it cannot have any.
void *map_huge_pages(size_t bytes) noexcept
{
    char *const start = static_cast<char *>(map_pages(bytes + huge_page_bytes));
    if (!start)
        return nullptr;
    const size_t past = reinterpret_cast<uintptr_t>(start) % huge_page_bytes;
    const size_t before = past ? huge_page_bytes - past : 0;
    unmap(start, before);
    unmap(start + before + bytes, huge_page_bytes - before);
    madvise(start + before, bytes, MADV_HUGEPAGE);
    return start + before;
}

void *map(size_t bytes) noexcept
{
    return bytes >= huge_page_bytes ? map_huge_pages(bytes) : map_pages(bytes);
}

} // namespace

void *BlockCache::take(size_t bytes)
{
    if (bytes > largest_bytes)
        return nullptr;
    const size_t size = size_class(std::max(bytes, smallest_bytes));
    if (void *const block = take_idle(size))
        return block;
    void *const block = map(size);
    if (block)
        record_in_use(block, size);
    return block;
}

// Finds idle blocks of that size, or else of the next larger one that is at most half as large
// again.  Wasting part of a block costs less than mapping and clearing a new one.
std::map<size_t, std::vector<BlockCache::Idle>>::iterator BlockCache::idle_for(size_t bytes)
{
    for (auto at = idle_.lower_bound(bytes); at != idle_.end() && at->first <= bytes + bytes / 2;
         at++)
        if (!at->second.empty())
            return at;
    return idle_.end();
}

// Takes the block that was given back last, because the processor's caches may still hold it.
void *BlockCache::take_idle(size_t wanted)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = idle_for(wanted);
    if (found == idle_.end())
        return nullptr;
    const size_t bytes = found->first;
    void *const start = found->second.back().start;
    in_use_.emplace(start, bytes);
    found->second.pop_back();
    statistics_.idle_bytes -= bytes;
    statistics_.in_use_bytes += bytes;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.in_use_bytes);
    statistics_.reused++;
    count_for_thread(static_cast<int64_t>(bytes));
    return start;
}

void BlockCache::record_in_use(void *start, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
        in_use_.emplace(start, bytes);
    } catch (...) {
        unmap(start, bytes);
        throw;
    }
    statistics_.in_use_bytes += bytes;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.in_use_bytes);
    statistics_.mapped++;
    count_for_thread(static_cast<int64_t>(bytes));
}

bool BlockCache::give(void *block) noexcept
{
    if (!starts_page(block))
        return false;
    size_t bytes = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = in_use_.find(block);
        if (found == in_use_.end())
            return false;
        bytes = found->second;
        in_use_.erase(found);
        statistics_.in_use_bytes -= bytes;
        count_for_thread(-static_cast<int64_t>(bytes));
        if (keep_ && store_idle(block, bytes))
            return true;
    }
    unmap(block, bytes);
    return true;
}

// Returns false if there is no memory to record the block.
bool BlockCache::store_idle(void *block, size_t bytes) noexcept
{
    try {
        idle_[bytes].push_back({block, ++clock_});
    } catch (...) {
        return false;
    }
    statistics_.idle_bytes += bytes;
    while (statistics_.idle_bytes > 2 * statistics_.peak_bytes)
        unmap_oldest();
    return true;
}

// Call it only if there is an idle block.
void BlockCache::unmap_oldest() noexcept
{
    auto oldest = idle_.end();
    for (auto at = idle_.begin(); at != idle_.end(); at++)
        if (!at->second.empty() &&
            (oldest == idle_.end() || at->second.front().since < oldest->second.front().since))
            oldest = at;
    unmap(oldest->second.front().start, oldest->first);
    oldest->second.erase(oldest->second.begin());
    statistics_.idle_bytes -= oldest->first;
}

void BlockCache::keep_idle(bool keep) noexcept
{
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        keep_ = keep;
    }
    if (!keep)
        trim();
}

void BlockCache::trim() noexcept
{
    std::map<size_t, std::vector<Idle>> idle;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        idle.swap(idle_);
        statistics_.idle_bytes = 0;
        statistics_.peak_bytes = statistics_.in_use_bytes;
    }
    for (const auto &[bytes, blocks] : idle)
        for (const Idle &block : blocks)
            unmap(block.start, bytes);
}

BlockStatistics BlockCache::statistics() const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
}

PeakScope::PeakScope() noexcept
{
    thread_bytes = thread_peak_bytes = 0;
}

int64_t PeakScope::peak_bytes() const noexcept
{
    return thread_peak_bytes;
}

} // namespace engine_torch
