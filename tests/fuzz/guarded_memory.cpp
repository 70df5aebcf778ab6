// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "guarded_memory.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace fuzz
{
namespace
{

Side side = Side::end;
int filling = 0;

struct Mapping {
    char *begin;
    size_t length;
};

// By the address that LibTorch knows.  Never destroyed: tensors may outlive every static object.
std::unordered_map<void *, Mapping> &mappings()
{
    static auto *const all = new std::unordered_map<void *, Mapping>;
    return *all;
}

void free_guarded(void *memory)
{
    const auto found = mappings().find(memory);
    if (found == mappings().end()) // from before guard_tensors()
        return memory ? c10::GetDefaultCPUAllocator()->raw_deleter()(memory) : void();
    munmap(found->second.begin, found->second.length);
    mappings().erase(found);
}

void *allocate_guarded(size_t bytes)
{
    constexpr size_t most = size_t{1} << 32, most_filled = size_t{1} << 22;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (bytes > most)
        throw std::bad_alloc();
    const size_t inside = (bytes + page - 1) / page * page, length = inside + 2 * page;
    void *memory = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    auto *begin = static_cast<char *>(memory);
    if (mprotect(begin + page, inside, PROT_READ | PROT_WRITE) < 0) {
        munmap(memory, length);
        throw std::bad_alloc();
    }
    char *const first = begin + page + (side == Side::end ? inside - bytes : 0);
    std::memset(first, filling, std::min(bytes, most_filled));
    mappings()[first] = {begin, length};
    return first;
}

class GuardedAllocator final : public c10::Allocator
{
public:
    // LibTorch 1.13 and 2.2 declare the first one, later ones the second.
    // NOLINTBEGIN(modernize-use-override)
    virtual c10::DataPtr allocate(size_t bytes) const { return allocate_memory(bytes); }
    virtual c10::DataPtr allocate(size_t bytes) { return allocate_memory(bytes); }
    virtual c10::DeleterFnPtr raw_deleter() const { return &free_guarded; }
    virtual void copy_data(void *to, const void *from, size_t bytes) const
    {
        std::memcpy(to, from, bytes);
    }
    // NOLINTEND(modernize-use-override)

private:
    static c10::DataPtr allocate_memory(size_t bytes)
    {
        void *memory = bytes ? allocate_guarded(bytes) : nullptr;
        return {memory, memory, &free_guarded, c10::Device(c10::DeviceType::CPU)};
    }
};

} // namespace

void guard_tensors()
{
    c10::SetCPUAllocator(new GuardedAllocator, 100);
}

void set_guard(Side new_side, int new_filling)
{
    side = new_side;
    filling = new_filling;
}

} // namespace fuzz
