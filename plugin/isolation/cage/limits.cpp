// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layers.h"
#include "memory.h"

#include "base/compose.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sys/resource.h>

namespace dnn_torch
{
namespace
{

// Sessions have a socket and two areas each; a driver opens its device many times.
constexpr rlim_t most_files = 1024, most_files_with_gpu = 8192;

// Address space that is reserved but not allocated: each thread's heap reserves 64 MiB, and
// libraries that are loaded later are mapped, as are the frames.
constexpr int64_t most_reserved_bytes = int64_t{16} << 30;

// The kernel's OOM killer adds half of memory to what this process uses, more than to ffmpeg's.
constexpr int more_oom_score = 500, most_oom_score = 1000;

// Lowers a limit for good, and never raises it.
bool lower(int resource, rlim_t most)
{
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0)
        return false;
    limit.rlim_max = std::min(limit.rlim_max, most);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    return setrlimit(resource, &limit) == 0;
}

bool raise_oom_score()
{
    constexpr char path[] = "/proc/self/oom_score_adj";
    int score = 0;
    if (!(std::ifstream(path) >> score))
        return false;
    // A service's may be the highest already, and only root may lower it.
    std::ofstream file(path);
    file << std::min(score + more_oom_score, most_oom_score) << std::flush;
    return file.good();
}

// RLIMIT_DATA counts what is private and writable.  RLIMIT_AS counts the address space:
// without it a remapped stack would grow without end.  GPU drivers reserve more addresses than
// any machine has memory.
bool lower_memory(const CageRules &rules)
{
    MemoryInUse now = memory_in_use();
    int64_t more = rules.memory_bytes > 0 ? rules.memory_bytes : usable_memory_bytes() / 8 * 7;
    if (more <= 0)
        return false;
    auto data = static_cast<rlim_t>(now.data_bytes) + static_cast<rlim_t>(more);
    auto space = static_cast<rlim_t>(now.address_bytes) + static_cast<rlim_t>(more) +
                 static_cast<rlim_t>(most_reserved_bytes);
    return lower(RLIMIT_DATA, data) && (rules.uses_gpu() || lower(RLIMIT_AS, space));
}

bool lower_other_limits(const CageRules &rules)
{
    bool gpu = rules.uses_gpu(); // its drivers lock memory
    return lower(RLIMIT_CORE, 0) && lower(RLIMIT_FSIZE, 0) && lower(RLIMIT_MSGQUEUE, 0) &&
           lower(RLIMIT_RTPRIO, 0) && (gpu || lower(RLIMIT_MEMLOCK, 0)) &&
           lower(RLIMIT_NOFILE, gpu ? most_files_with_gpu : most_files);
}

} // namespace

std::string close_limits(const CageRules &rules)
{
    // A write beyond RLIMIT_FSIZE fails with EFBIG instead of ending the process.
    signal(SIGXFSZ, SIG_IGN);
    if (!lower_other_limits(rules))
        return failed_call("setrlimit");
    if (!lower_memory(rules))
        return failed_call("the limit of memory");
    if (!raise_oom_score())
        return failed_call("/proc/self/oom_score_adj");
    return {};
}

} // namespace dnn_torch
