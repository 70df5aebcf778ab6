// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Memory for tensors.
#pragma once

namespace engine_torch
{

// While an object lives, large tensors that are made in a MemoryScope use blocks that we keep
// between uses.  When the last object goes, all unused blocks are freed.  The first object replaces
// LibTorch's allocator for good and for the whole program, unless the program has set one of its
// own.  Any thread.
class AllocatorUse
{
public:
    AllocatorUse();
    ~AllocatorUse();
    AllocatorUse(const AllocatorUse &) = delete;
    AllocatorUse &operator=(const AllocatorUse &) = delete;
};

// While an object lives, the calling thread's tensors on the CPU belong to a model of ours.
// LibTorch's own allocator serves all others.  Scopes nest.
class MemoryScope
{
public:
    MemoryScope() noexcept;
    ~MemoryScope();
    MemoryScope(const MemoryScope &) = delete;
    MemoryScope &operator=(const MemoryScope &) = delete;
};

// Frees unused blocks.  Call it when later blocks will have other sizes.
void trim_allocator() noexcept;

} // namespace engine_torch
