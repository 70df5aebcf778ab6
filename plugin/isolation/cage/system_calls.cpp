// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "system_calls.h"

namespace dnn_torch
{

const std::vector<const char *> &harmless_system_calls()
{
    static const std::vector<const char *> calls
    {
        // memory of this process
        "brk", "get_mempolicy", "madvise", "mbind", "mprotect", "mremap", "mseal", "munmap",
            "pkey_alloc", "pkey_free", "pkey_mprotect", "riscv_flush_icache", "set_mempolicy",
            // descriptors that it has; opening is up to their arguments
            "close", "close_range", "dup", "dup2", "dup3", "epoll_create1", "epoll_ctl",
            "epoll_pwait", "epoll_wait", "eventfd2", "fadvise64", "lseek", "_llseek", "poll",
            "ppoll", "ppoll_time64", "pread64", "preadv", "preadv2", "pselect6", "pselect6_time64",
            "pwrite64", "pwritev", "read", "readahead", "readv", "select", "write", "writev",
            // what files there are
            "access", "faccessat", "faccessat2", "fstat", "fstat64", "fstatfs", "fstatfs64",
            "getcwd", "getdents", "getdents64", "lstat", "newfstatat", "fstatat64", "readlink",
            "readlinkat", "stat", "statfs", "statx",
            // sockets that it has
            "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg",
            "shutdown",
            // threads
            "exit", "exit_group", "futex", "futex_requeue", "futex_time64", "futex_wait",
            "futex_waitv", "futex_wake", "getcpu", "gettid", "restart_syscall", "rseq",
            "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_max",
            "sched_get_priority_min", "sched_yield", "set_robust_list", "set_tid_address",
            // signals that come
            "pause", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn",
            "rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64", "sigaltstack",
            "sigreturn",
            // time, chance, and who this is
            "capget", "clock_getres", "clock_getres_time64", "clock_gettime", "clock_gettime64",
            "clock_nanosleep", "clock_nanosleep_time64", "getegid", "geteuid", "getgid",
            "getgroups", "getpgrp", "getpid", "getppid", "getrandom", "getresgid", "getresuid",
            "getrlimit", "getrusage", "gettimeofday", "getuid", "nanosleep", "riscv_hwprobe",
            "sysinfo", "time", "times", "ugetrlimit", "uname",
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
            "pipe", // by which sanitizers find out whether memory may be read
            "pipe2",
#endif
    };
    return calls;
}

} // namespace dnn_torch
