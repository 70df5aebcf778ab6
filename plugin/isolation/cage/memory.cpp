// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

// Returns `otherwise` if the file is absent or has no number: "max" means no limit.
int64_t read_limit(const std::string &path, int64_t otherwise)
{
    int64_t limit = 0;
    return std::ifstream(path) >> limit && limit > 0 ? limit : otherwise;
}

// Returns the least of `most` and the limits of a group and of those above it.
int64_t limit_of_group(const std::string &top, std::string group, const char *file, int64_t most)
{
    for (;;) {
        most = std::min(most, read_limit(top + group + "/" + file, most));
        size_t slash = group.rfind('/');
        if (slash == group.npos)
            return most;
        group.resize(slash);
    }
}

// A line of /proc/self/cgroup is "NUMBER:CONTROLLERS:GROUP".
int64_t limit_of_line(const std::string &root, std::string_view line, int64_t most)
{
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos)
        return most;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string group(line.substr(second + 1));
    if (controllers.empty())
        return limit_of_group(root + "/sys/fs/cgroup", group, "memory.max", most);
    if (controllers == "memory")
        return limit_of_group(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", most);
    return most;
}

} // namespace

MemoryInUse memory_in_use()
{
    int64_t pages[6] = {}; // size, resident, shared, text, 0, data
    std::ifstream file("/proc/self/statm");
    for (int64_t &number : pages)
        file >> number;
    int64_t page_bytes = sysconf(_SC_PAGESIZE);
    return {.address_bytes = pages[0] * page_bytes, .data_bytes = pages[5] * page_bytes};
}

int64_t usable_memory_bytes(const std::string &root)
{
    int64_t most = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        most = limit_of_line(root, line, most);
    return std::max<int64_t>(most, 0);
}

} // namespace dnn_torch
