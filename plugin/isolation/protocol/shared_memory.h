// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Memory that two processes share.  The host side makes it and seals its size, so that no access
// to it can fail because the other side shrank it.
#pragma once

#include "base/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace isolation
{

// A mapped piece of memory.  Belongs to one thread.
class Mapping
{
public:
    Mapping() = default;
    Mapping(void *start, size_t size) : start_(start), size_(size) {}
    ~Mapping();
    Mapping(Mapping &&other) noexcept
        : start_(std::exchange(other.start_, nullptr)), size_(std::exchange(other.size_, 0))
    {
    }
    Mapping &operator=(Mapping &&other) noexcept
    {
        std::swap(start_, other.start_);
        std::swap(size_, other.size_);
        return *this;
    }

    // Null if there is none.
    char *start() const { return static_cast<char *>(start_); }
    size_t size() const { return size_; }

private:
    void *start_ = nullptr;
    size_t size_ = 0;
};

enum class Writer : uint8_t { host, child };

struct SharedMemory {
    dnn_torch::Descriptor descriptor;
    Mapping mapping; // writable
};

// Makes and maps memory of that many bytes, rounded up to whole pages.  Only `writer` is meant to
// write to it; with Writer::host the kernel keeps the child from it.  On failure the mapping is
// empty and errno is set.
SharedMemory make_shared_memory(size_t bytes, Writer writer);

// Makes immutable memory with these contents.
dnn_torch::Descriptor make_constant_memory(const void *contents, size_t bytes);

// Maps memory that the other side made.  Returns an empty mapping on failure.
Mapping map_memory(int descriptor, size_t bytes, Writer writer);

} // namespace isolation
