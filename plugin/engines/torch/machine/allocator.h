// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The memory of the tensors.
#pragma once

namespace engine_torch
{

// While one lives, large tensors that are made in a MemoryScope take blocks that
// stay with us between their uses; with the last one all that is unused goes back.
// The first one puts our allocator into LibTorch's place, for good and for the
// whole program, unless the program has set one of its own.  Any thread.
class AllocatorUse
{
public:
    AllocatorUse();
    ~AllocatorUse();
    AllocatorUse(const AllocatorUse &) = delete;
    AllocatorUse &operator=(const AllocatorUse &) = delete;
};

// While one lives, the calling thread's tensors on the CPU are a model's of ours.
// What else the program makes of LibTorch's is left to LibTorch's own allocator.
// Scopes nest.
class MemoryScope
{
public:
    MemoryScope() noexcept;
    ~MemoryScope();
    MemoryScope(const MemoryScope &) = delete;
    MemoryScope &operator=(const MemoryScope &) = delete;
};

// Gives unused blocks back, after a time with other sizes than those to come.
void trim_allocator() noexcept;

} // namespace engine_torch
