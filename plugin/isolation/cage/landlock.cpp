// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_rules.h"
#include "layers.h"
#include "readable.h"

#include "base/compose.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

// The kernel's headers may be older than the kernel, hence numbers of our own.  These three
// calls have the same numbers on all architectures.
constexpr long create_ruleset_call = 444, add_rule_call = 445, restrict_self_call = 446;
constexpr uint32_t ask_for_version = 1, path_beneath = 1, all_threads = 1 << 3;
constexpr long first_for_all_threads = 8; // the version that brought that flag

// The kernel's struct landlock_ruleset_attr.  An older kernel knows fewer members.
struct Ruleset {
    uint64_t files, net, scopes;
};

// The kernel's struct landlock_path_beneath_attr.
struct __attribute__((packed)) PathRule {
    uint64_t allowed;
    int32_t parent;
};

constexpr uint64_t write_file = 1 << 1, read_file = 1 << 2, read_folder = 1 << 3,
                   truncate_file = 1 << 14, device_ioctl = 1 << 15;

// File rights by version of Landlock's interface.  The first has 13; later ones add moving to
// another folder, truncating, and ioctl() on devices.
uint64_t known_file_rights(long version)
{
    int rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    return (uint64_t{1} << rights) - 1;
}

// Everything that this version can refuse: files, TCP (bind, connect), and ways out of the
// process (abstract sockets, signals).
Ruleset refuse_all(long version)
{
    return {.files = known_file_rights(version),
            .net = version >= 4 ? uint64_t{3} : 0,
            .scopes = version >= 6 ? uint64_t{3} : 0};
}

// An older kernel refuses a struct that is larger than its own.
size_t known_size(long version)
{
    return version >= 6   ? sizeof(Ruleset)
           : version >= 4 ? sizeof(Ruleset::files) + sizeof(Ruleset::net)
                          : sizeof(Ruleset::files);
}

// Skips files that do not exist or that the user may not see.
std::string allow(int ruleset, const std::string &path, uint64_t rights)
{
    int file = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0)
        return {};
    struct stat facts {
    };
    PathRule rule = {.allowed = rights, .parent = file};
    bool known = fstat(file, &facts) == 0;
    if (!S_ISDIR(facts.st_mode)) // the kernel refuses folders' rights for files
        rule.allowed &= ~read_folder;
    bool added = known && syscall(add_rule_call, ruleset, path_beneath, &rule, 0) == 0;
    std::string reason = added ? "" : failed_call(path.c_str());
    close(file);
    return reason;
}

std::string allow_all(int ruleset, const CageRules &rules, uint64_t known)
{
    std::string reason;
    for (const std::string &path : readable_paths(rules))
        if (reason.empty())
            reason = allow(ruleset, path, read_file | read_folder);
    if (!rules.uses_gpu())
        return reason;
    const uint64_t changing = read_file | write_file | truncate_file | read_folder | device_ioctl;
    for (const std::string &path : gpu_writable_paths())
        if (reason.empty())
            reason = allow(ruleset, path, changing & known);
    return reason;
}

std::string no_landlock()
{
    if (errno == ENOSYS)
        return "the kernel has none (it came with 5.13), or a container forbids it";
    if (errno == EOPNOTSUPP)
        return "the kernel was started without it";
    return failed_call("landlock_create_ruleset");
}

} // namespace

std::string close_landlock(const CageRules &rules)
{
    long version = syscall(create_ruleset_call, nullptr, 0, ask_for_version);
    if (version < 1)
        return no_landlock();
    std::string threads = other_threads();
    if (!threads.empty() && version < first_for_all_threads)
        return threads + ", and the kernel (before 7.0) would hold one of them";
    Ruleset refused = refuse_all(version);
    auto ruleset = static_cast<int>(syscall(create_ruleset_call, &refused, known_size(version), 0));
    if (ruleset < 0)
        return no_landlock();
    std::string reason = allow_all(ruleset, rules, refused.files);
    uint32_t flags = threads.empty() ? 0 : all_threads;
    if (reason.empty() && syscall(restrict_self_call, ruleset, flags) != 0)
        reason = failed_call("landlock_restrict_self");
    close(ruleset);
    return reason;
}

} // namespace dnn_torch
