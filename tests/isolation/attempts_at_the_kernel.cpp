// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attempts.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace
{

int make_a_ring()
{
    char parameters[120] = {}; // struct io_uring_params
    return error_of(syscall(425 /* io_uring_setup */, 4, parameters));
}

// A map of one number.
int use_bpf()
{
    const uint32_t attributes[32] = {2 /* array */, 4, 4, 1};
    return error_of(syscall(SYS_bpf, 0 /* create a map */, attributes, sizeof(attributes)));
}

// Counts this process's own instructions, which few forbid.
int open_a_counter()
{
    uint64_t attributes[16] = {uint64_t{112} << 32 | 1 /* software */, 1 /* task clock */};
    attributes[5] = 1 << 5 | 1 << 6; // neither the kernel nor the hypervisor
    return error_of(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
}

int regain_capabilities()
{
    __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    data[0].effective = data[0].permitted = 1 << CAP_CHOWN;
    return error_of(syscall(SYS_capset, &header, data));
}

int raise_a_limit()
{
    rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    return error_of(setrlimit(RLIMIT_CORE, &limit));
}

// Sets the name that the machine has.
int name_the_machine()
{
    char name[65] = "";
    if (gethostname(name, sizeof(name) - 1) != 0)
        return errno;
    return error_of(sethostname(name, std::strlen(name)));
}

int set_the_clock()
{
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    return error_of(clock_settime(CLOCK_REALTIME, &now));
}

int type_into_terminal(const Scene &scene)
{
    char key = 'x';
    return error_of(ioctl(scene.terminal, TIOCSTI, &key));
}

int own_a_socket(const Scene &scene)
{
    constexpr unsigned long set_owner = 0x8901; // FIOSETOWN
    pid_t victim = scene.victim;
    return error_of(ioctl(scene.unix_, set_owner, &victim));
}

int join_victims_namespace(const Scene &scene)
{
    return error_of(setns(scene.victim_pidfd, CLONE_NEWNS));
}

// By the numbers that x32 has: those of 64 bits with one bit more.
int call_x32()
{
#if defined __x86_64__
    return error_of(syscall(0x40000000 | SYS_getpid));
#else
    return ENOSYS;
#endif
}

} // namespace

std::vector<Attempt> attempts_at_the_kernel()
{
    constexpr unsigned long no_pointer = 1;
    return {
        // its attack surface
        ATTEMPT("io_uring_setup", seccomp, depends, make_a_ring()),
        ATTEMPT("bpf", seccomp | privileges, depends, use_bpf()),
        ATTEMPT("perf_event_open", seccomp, depends, open_a_counter()),
        ATTEMPT("userfaultfd", seccomp, depends, error_of(syscall(SYS_userfaultfd, O_CLOEXEC))),
        ATTEMPT("add_key", seccomp, depends,
                error_of(syscall(SYS_add_key, "user", "stranger", "x", 1, -1 /* the thread's */))),
        ATTEMPT("keyctl", seccomp, depends,
                error_of(syscall(SYS_keyctl, 0 /* a keyring's number */, -4 /* user's */, 1))),
        ATTEMPT("seccomp", seccomp, depends,
                error_of(syscall(SYS_seccomp, 2 /* is an action known */, 0, "\0\0\xff\x7f"))),
        ATTEMPT("landlock", seccomp, depends, error_of(syscall(444, nullptr, 0, 1))),
        ATTEMPT("call_x32", seccomp, depends, call_x32()),
        ATTEMPT("init_module", seccomp | privileges, depends,
                error_of(syscall(SYS_init_module, no_pointer, 0, ""))),
        ATTEMPT("syslog", seccomp, depends, error_of(syscall(SYS_syslog, 10 /* size */, 0, 0))),
        ATTEMPT("personality", seccomp, works, error_of(personality(ADDR_NO_RANDOMIZE))),
        ATTEMPT("type_into_a_terminal", seccomp, depends, type_into_terminal(s)),
        ATTEMPT("own_a_socket", seccomp, works, own_a_socket(s)),
        // namespaces and mounts
        ATTEMPT("mount", seccomp | privileges, depends,
                error_of(mount("none", s.spare.c_str(), "tmpfs", 0, nullptr))),
        ATTEMPT("umount", seccomp | privileges, depends,
                error_of(umount2("/proc", MNT_DETACH | MNT_EXPIRE))),
        ATTEMPT("unshare_user", seccomp, depends, error_of(unshare(CLONE_NEWUSER))),
        ATTEMPT("unshare_net", seccomp | privileges, depends, error_of(unshare(CLONE_NEWNET))),
        ATTEMPT("unshare_mounts", seccomp | privileges, depends, error_of(unshare(CLONE_NEWNS))),
        ATTEMPT("setns", seccomp | privileges, depends, join_victims_namespace(s)),
        ATTEMPT("sethostname", seccomp | privileges, depends, name_the_machine()),
        ATTEMPT("clock_settime", seccomp | privileges, depends, set_the_clock()),
        // who this is
        ATTEMPT("setuid", seccomp | privileges, works_as_root, error_of(setuid(getuid() + 1))),
        ATTEMPT("setgid", seccomp | privileges, works_as_root, error_of(setgid(getgid() + 1))),
        ATTEMPT("setgroups", seccomp | privileges, works_as_root,
                error_of(syscall(SYS_setgroups, 0, nullptr))),
        ATTEMPT("capset", seccomp | privileges, works_as_root, regain_capabilities()),
        ATTEMPT("raise_a_limit", 0, works_as_root, raise_a_limit()),
        ATTEMPT("become_dumpable", seccomp, works, error_of(prctl(PR_SET_DUMPABLE, 1))),
        ATTEMPT("pdeathsig", seccomp, works, error_of(prctl(PR_SET_PDEATHSIG, SIGCONT))),
        ATTEMPT("subreaper", seccomp, works, error_of(prctl(PR_SET_CHILD_SUBREAPER, 1))),
        ATTEMPT("ptracer", seccomp, depends, error_of(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY))),
        ATTEMPT("keep_capabilities", seccomp, works, error_of(prctl(PR_SET_KEEPCAPS, 1))),
        ATTEMPT("trace_of_time", seccomp, depends, error_of(prctl(PR_SET_TSC, PR_TSC_SIGSEGV))),
    };
}
