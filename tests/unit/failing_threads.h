// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A system that gives no more threads, and a process that was forked.  For one file
// of a test program: it defines pthread_create().
#pragma once

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dnn_torch
{

inline std::atomic<int> threads_left{INT_MAX};

// As long as it lives, only that many more threads start.
struct FewThreads {
    explicit FewThreads(int count) { threads_left = count; }
    ~FewThreads() { threads_left = INT_MAX; }
    FewThreads(const FewThreads &) = delete;
    FewThreads &operator=(const FewThreads &) = delete;
};

// fork() copies the locks of a sanitizer's allocator, and not the threads that hold them: a child
// that needs one waits for ever.  The thread sanitizer also ends a child of a process with threads
// that starts some itself.
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
constexpr bool copies_by_fork_work = false;
#else
constexpr bool copies_by_fork_work = true;
#endif
constexpr const char *no_copies_by_fork = "sanitizers do not survive fork() beside other threads";

// What `action` returns in a child of this process; 99 where that has no end within 10 s.
inline int in_child(const std::function<int()> &action)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(action());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

} // namespace dnn_torch

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                              void *(*start)(void *), void *argument) noexcept
{
    using Create = int(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const auto real = reinterpret_cast<Create *>(dlsym(RTLD_NEXT, "pthread_create"));
    if (dnn_torch::threads_left.fetch_sub(1) <= 0)
        return EAGAIN;
    return real(thread, attributes, start, argument);
}
