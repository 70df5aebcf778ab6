// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "affinity.h"

#include <array>
#include <cstdio>
#include <sched.h>
#include <unistd.h>

namespace isolation
{
namespace
{

// More processors than any kernel knows; it refuses a mask that is too small.
constexpr size_t most_processors = 1 << 16;
using Mask = std::array<cpu_set_t, most_processors / CPU_SETSIZE>;

bool has_thread(pid_t process, pid_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", process, thread);
    return process > 0 && thread > 0 && access(path, F_OK) == 0;
}

bool get(pid_t thread, Mask &mask)
{
    return sched_getaffinity(thread, sizeof mask, mask.data()) == 0;
}

} // namespace

bool share_affinity(pid_t process, pid_t thread) noexcept
{
    Mask own = {}, others = {};
    if (!has_thread(process, thread) || !get(0, own) || !get(thread, others))
        return false;
    return CPU_EQUAL_S(sizeof own, own.data(), others.data()) ||
           sched_setaffinity(thread, sizeof own, own.data()) == 0;
}

} // namespace isolation
