// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_rules.h"
#include "layers.h"
#include "system_calls.h"

#include "base/compose.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <system_error>
#include <type_traits>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

struct ReleaseFilter {
    void operator()(scmp_filter_ctx filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, ReleaseFilter>;

// Adds rules one by one, and remembers the first that failed.  All rules of a call are
// alternatives: one that fits is enough.
class Rules
{
public:
    explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

    void allow(const char *call) { add(SCMP_ACT_ALLOW, call, {}); }
    void allow(const char *call, scmp_arg_cmp argument) { add(SCMP_ACT_ALLOW, call, argument); }

    // Allows the call if the bits of the argument under `mask` equal `value`.
    void allow_value(const char *call, unsigned argument, uint64_t value, uint64_t mask = ~0u)
    {
        add(SCMP_ACT_ALLOW, call, equal(argument, value, mask));
    }

    // The call does nothing and returns `error`, or 0 as if it had worked.
    void answer(const char *call, int error)
    {
        add(SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), call, {});
    }

    static scmp_arg_cmp equal(unsigned argument, uint64_t value, uint64_t mask)
    {
        return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
    }

    const std::string &failure() const { return failure_; }

private:
    // Calls that this architecture or this libseccomp does not know are left out: they stay
    // refused.
    void add(uint32_t action, const char *call, std::optional<scmp_arg_cmp> argument)
    {
        int number = seccomp_syscall_resolve_name(call);
        if (number == __NR_SCMP_ERROR || number < 0 || !failure_.empty())
            return;
        int result = argument ? seccomp_rule_add_array(filter_, action, number, 1, &*argument)
                              : seccomp_rule_add_array(filter_, action, number, 0, nullptr);
        if (result != 0)
            failure_ = concat(call, ": ", std::generic_category().message(-result));
    }

    scmp_filter_ctx filter_;
    std::string failure_;
};

// On s390 the first two arguments of clone() are swapped.
#ifdef __s390__
constexpr unsigned clone_flags = 1;
#else
constexpr unsigned clone_flags = 0;
#endif

// Allows threads, but no processes and no namespaces.
void add_threads(Rules &rules)
{
    constexpr uint64_t thread = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
    constexpr uint64_t never = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                               CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE |
                               CLONE_PARENT | CLONE_VFORK;
    rules.allow_value("clone", clone_flags, thread, thread | never);
    // Its flags are in memory, where a filter cannot look.  glibc falls back to clone().
    rules.answer("clone3", ENOSYS);
    // Threads pin others of their process to cores by thread id, and the kernel would let them pin
    // any process of the user.  OpenMP ends the process if this fails.
    rules.answer("sched_setaffinity", 0);
}

// Allows signals to this process: abort(), raise() and pthread_kill().
void add_signals(Rules &rules)
{
    auto self = static_cast<uint64_t>(getpid());
    rules.allow_value("kill", 0, self);
    rules.allow_value("tgkill", 0, self);
}

// Allows private memory only: no limit counts shared memory without a file, or a stack that
// grows.  A mapped descriptor has the file's size.
void add_memory(Rules &rules, bool uses_gpu)
{
    constexpr unsigned flags = 3;
    for (const char *call : {"mmap", "mmap2"}) {
        if (uses_gpu)
            rules.allow(call);
        rules.allow_value(call, flags, 0, MAP_ANONYMOUS | MAP_GROWSDOWN);
        rules.allow_value(call, flags, MAP_ANONYMOUS | MAP_PRIVATE,
                          MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_TYPE);
    }
}

// Landlock says which files may be opened.  This refuses writing, also without Landlock.
void add_opening(Rules &rules, bool uses_gpu)
{
    constexpr uint64_t temporary = O_TMPFILE & ~O_DIRECTORY;
    constexpr uint64_t changing = O_ACCMODE | O_CREAT | O_TRUNC | temporary;
    if (uses_gpu) {
        rules.allow("open");
        rules.allow("openat");
    }
    rules.allow_value("open", 1, O_RDONLY, changing);
    rules.allow_value("openat", 2, O_RDONLY, changing);
    rules.answer("openat2", ENOSYS); // its flags are in memory
}

// Leaves out the commands by which a descriptor signals other processes or locks a file.
void add_descriptors(Rules &rules)
{
    for (const char *call : {"fcntl", "fcntl64"})
        for (int command :
             {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GET_SEALS})
            rules.allow_value(call, 1, static_cast<uint64_t>(command));
    for (uint64_t request : {uint64_t{FIONREAD}, uint64_t{FIOCLEX}, uint64_t{FIONCLEX},
                             uint64_t{TCGETS}, uint64_t{TIOCGWINSZ}})
        rules.allow_value("ioctl", 1, request);
    // Without an address: a connected socket reaches nobody but its peer.
    rules.allow_value("sendto", 4, 0, ~uint64_t{0});
}

void add_settings_of_threads(Rules &rules)
{
    constexpr uint64_t get_sve_length = 51, set_vma = 0x53564d41; // newer than some headers
    for (uint64_t option :
         {uint64_t{PR_SET_NAME}, uint64_t{PR_GET_NAME}, uint64_t{PR_GET_DUMPABLE},
          uint64_t{PR_GET_NO_NEW_PRIVS}, uint64_t{PR_CAPBSET_READ}, get_sve_length, set_vma})
        rules.allow_value("prctl", 0, option);
    // x86: asks whether AMX may be used, and for permission to use it.
    for (uint64_t option : {0x1021, 0x1022, 0x1023})
        rules.allow_value("arch_prctl", 0, option);
    rules.allow_value("prlimit64", 0, 0); // of itself
}

void add_gpu(Rules &rules)
{
    constexpr uint64_t kind = 0xff00;
    constexpr uint64_t uvm_initialize = 0x30000001, uvm_deinitialize = 0x30000002;
    for (const char *call : gpu_system_calls())
        rules.allow(call);
    for (unsigned request_kind : gpu_request_kinds())
        rules.allow_value("ioctl", 1, uint64_t{request_kind} << 8, kind);
    for (uint64_t request : {uvm_initialize, uvm_deinitialize})
        rules.allow_value("ioctl", 1, request);
}

std::string add_rules(scmp_filter_ctx filter, const CageRules &cage)
{
    Rules rules(filter);
    for (const char *call : harmless_system_calls())
        rules.allow(call);
    add_threads(rules);
    add_signals(rules);
    add_memory(rules, cage.uses_gpu());
    add_opening(rules, cage.uses_gpu());
    add_descriptors(rules);
    add_settings_of_threads(rules);
    if (cage.uses_gpu())
        add_gpu(rules);
    return rules.failure();
}

// Calls of another architecture (32 bits, x32) have other numbers, so all of them are refused.
int set_attributes(scmp_filter_ctx filter)
{
    int result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    return result ? result : seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
}

} // namespace

std::string close_system_calls(const CageRules &cage)
{
    Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)));
    if (!filter)
        return "libseccomp does not know this architecture";
    if (std::string failure = add_rules(filter.get(), cage); !failure.empty())
        return failure;
    int result = set_attributes(filter.get());
    if (result == 0)
        result = seccomp_load(filter.get());
    return result ? "the kernel refuses the filter: " + std::generic_category().message(-result)
                  : "";
}

} // namespace dnn_torch
