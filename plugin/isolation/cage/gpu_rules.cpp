// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_rules.h"

#include <filesystem>
#include <system_error>

namespace dnn_torch
{

std::vector<std::string> gpu_writable_paths()
{
    namespace fs = std::filesystem;
    // CUDA names its threads by /proc/self/task/NUMBER/comm, and does not start if it cannot.
    std::vector<std::string> paths{"/dev/dri", "/proc/self/task"};
    std::error_code error;
    for (fs::directory_iterator entry("/dev", error), end; !error && entry != end;
         entry.increment(error)) // nvidia0, nvidiactl, nvidia-uvm, nvidia-caps
        if (entry->path().filename().string().starts_with("nvidia"))
            paths.push_back(entry->path());
    return paths;
}

std::vector<std::string> gpu_readable_paths()
{
    return {
        "/proc/driver",
        "/proc/devices",
        "/proc/modules",
        "/proc/sys/vm/mmap_min_addr",
        "/sys",
        "/etc/OpenCL",
        "/etc/vulkan",
        "/usr/share/nvidia",
        "/opt/intel",
        "/usr/share/libdrm",
        "/run/nvidia-persistenced",
    };
}

const std::vector<const char *> &gpu_system_calls()
{
    // The drivers' threads wait on pipes and sockets of their own, and lock memory that the
    // device reads.
    static const std::vector<const char *> calls{
        "eventfd",      "fallocate", "ftruncate",       "getpriority",
        "memfd_create", "mlock",     "mlock2",          "munlock",
        "pipe",         "pipe2",     "socketpair",      "timerfd_create",
        "mincore",      "msync",     "timerfd_gettime", "timerfd_settime",
    };
    return calls;
}

const std::vector<unsigned> &gpu_request_kinds()
{
    // nvidia-uvm's own numbers, nvidia, DRM (i915, xe), nvidia-modeset, dma-buf, sync files.
    // Not among them: terminals ('T') and sockets (0x89), which can send signals.
    static const std::vector<unsigned> kinds{0, 'F', 'd', 'm', 'b', '>'};
    return kinds;
}

} // namespace dnn_torch
