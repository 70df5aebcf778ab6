// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu.h"

#include "topology.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace dnn_torch
{
namespace
{

struct Feature {
    const char *flag; // in /proc/cpuinfo
    const char *name;
};

constexpr Feature known_features[] = {
    {"avx2", "AVX2"},
    {"fma", "FMA"},
    {"avx_vnni", "AVX VNNI"},
    {"avx512bw", "AVX-512"}, // the subset that vector code requires
    {"avx512_vnni", "AVX-512 VNNI"},
    {"avx512_bf16", "AVX-512 bf16"},
    {"avx512_fp16", "AVX-512 fp16"},
    {"amx_int8", "AMX int8"},
    {"amx_bf16", "AMX bf16"},
    {"asimd", "NEON"},
    {"sve", "SVE"},
    {"bf16", "bf16"},
    {"i8mm", "i8mm"},
};

// Reads "100000 100000"; "max 100000" is no quota.
//
// This file parses by hand because it needs only two numbers.  libcgroup would first
// parse every mount and controller, and hwloc does not report quotas.
double quota_of_version2(const std::string &directory)
{
    double quota = 0, period = 0;
    std::ifstream file(directory + "/cpu.max");
    return file >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_of_version1(const std::string &directory)
{
    double quota = 0, period = 0;
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period;
    return quota > 0 && period > 0 ? quota / period : 0;
}

// Returns the tightest quota on the path from a group up to the mount.  A container
// may see its own group as the mount itself: then the longer paths do not exist.
template <class Quota> double tightest(const std::string &mount, std::string group, Quota quota)
{
    double least = 0;
    for (;;) {
        double here = quota(mount + group);
        if (here > 0 && (least == 0 || here < least))
            least = here;
        if (group.empty() || group == "/")
            return least;
        size_t parent = group.rfind('/');
        group.erase(parent == group.npos ? 0 : parent);
    }
}

bool lists(std::string_view controllers, std::string_view wanted)
{
    while (!controllers.empty()) {
        size_t end = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, end) == wanted)
            return true;
        controllers.remove_prefix(std::min(end + 1, controllers.size()));
    }
    return false;
}

// Reads one line of /proc/self/cgroup: "0::/user.slice" or "4:cpu,cpuacct:/docker/1".
double quota_of_line(const std::string &mount, const std::string &line)
{
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos)
        return 0;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (controllers.empty())
        return tightest(mount, group, quota_of_version2);
    if (!lists(controllers, "cpu"))
        return 0;
    double joint = tightest(mount + "/" + controllers, group, quota_of_version1);
    return joint > 0 ? joint : tightest(mount + "/cpu", group, quota_of_version1);
}

std::string trimmed(const std::string &text)
{
    size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
    return first == text.npos ? std::string() : text.substr(first, last - first + 1);
}

std::vector<std::string> features_of(const std::string &flags)
{
    std::istringstream words(flags);
    std::vector<std::string> present, names;
    for (std::string word; words >> word;)
        present.push_back(word);
    for (const Feature &feature : known_features)
        if (std::find(present.begin(), present.end(), feature.flag) != present.end())
            names.emplace_back(feature.name);
    return names;
}

void read_cpuinfo(const std::string &root, CpuInfo &info)
{
    std::ifstream file(root + "/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        size_t colon = line.find(':');
        if (colon == line.npos)
            continue;
        std::string key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
        if (key == "model name" && info.model.empty())
            info.model = value;
        // x86 and ARM.
        if ((key == "flags" || key == "Features") && info.features.empty())
            info.features = features_of(value);
    }
}

} // namespace

double quota_cores(const std::string &root)
{
    std::ifstream groups(root + "/proc/self/cgroup");
    double least = 0;
    for (std::string line; std::getline(groups, line);) {
        double here = quota_of_line(root + "/sys/fs/cgroup", line);
        if (here > 0 && (least == 0 || here < least))
            least = here;
    }
    return least;
}

size_t cores_within(size_t allowed, double quota)
{
    allowed = std::max<size_t>(allowed, 1);
    if (quota <= 0 || quota >= static_cast<double>(allowed))
        return allowed;
    return std::max<size_t>(static_cast<size_t>(quota), 1);
}

size_t usable_cores(const std::string &root)
{
    return cores_within(worthwhile_cores(usable_topology(root)), quota_cores(root));
}

CpuInfo cpu_info(const std::string &root)
{
    const Topology topology = usable_topology(root);
    CpuInfo info{.model = {},
                 .cores = 0,
                 .allowed_cores = topology.allowed.size(),
                 .physical_cores = topology.cores,
                 .nodes = topology.nodes.size(),
                 .quota_cores = quota_cores(root),
                 .features = {}};
    info.cores = cores_within(worthwhile_cores(topology), info.quota_cores);
    read_cpuinfo(root, info);
    if (info.model.empty())
        info.model = "a processor without a name";
    return info;
}

} // namespace dnn_torch
