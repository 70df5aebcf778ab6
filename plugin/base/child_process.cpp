// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "child_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace dnn_torch
{
namespace
{

// A descriptor, or a copy of it if its number is among those that the program will use.
class PassedDescriptor
{
public:
    PassedDescriptor(int number, int first_free)
        : number_(number),
          copy_(number >= 0 && number < first_free ? fcntl(number, F_DUPFD_CLOEXEC, first_free)
                                                   : -1)
    {
    }
    int get() const { return copy_.is_open() ? copy_.get() : number_; }

private:
    int number_;
    Descriptor copy_;
};

class SpawnSetting
{
public:
    explicit SpawnSetting(const ProgramStart &start)
        : first_free_(STDERR_FILENO + 1 + static_cast<int>(start.inherited.size())),
          output_(start.output, first_free_), errors_(start.errors, first_free_)
    {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        pass(output_.get(), STDOUT_FILENO);
        pass(errors_.get(), STDERR_FILENO);
        int number = STDERR_FILENO + 1;
        for (int each : start.inherited) {
            inherited_.emplace_back(each, first_free_);
            pass(inherited_.back().get(), number++);
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, first_free_);
        set_attributes(start.has_own_session);
    }
    SpawnSetting(const SpawnSetting &) = delete;
    SpawnSetting &operator=(const SpawnSetting &) = delete;
    ~SpawnSetting()
    {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

private:
    void pass(int from, int to)
    {
        if (from >= 0)
            posix_spawn_file_actions_adddup2(&actions, from, to);
        else
            posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_WRONLY, 0);
    }

    void set_attributes(bool has_own_session)
    {
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        sigdelset(&signals, SIGKILL);
        sigdelset(&signals, SIGSTOP);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                          (has_own_session ? POSIX_SPAWN_SETSID : 0);
        posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
    }

    const int first_free_; // the lowest number that the program does not use
    PassedDescriptor output_, errors_;
    std::vector<PassedDescriptor> inherited_;
};

// Returns them as exec() takes them.
std::vector<char *> pointers_to(const std::vector<std::string> &texts)
{
    std::vector<char *> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string &text : texts)
        pointers.push_back(const_cast<char *>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

int start_program(const ProgramStart &start, pid_t &child)
{
    std::vector<std::string> words = {start.program};
    words.insert(words.end(), start.arguments.begin(), start.arguments.end());
    SpawnSetting setting(start);
    return posix_spawn(&child, start.program.c_str(), &setting.actions, &setting.attributes,
                       pointers_to(words).data(), pointers_to(start.environment).data());
}

std::vector<std::string> environment_where(bool (*is_kept)(std::string_view name))
{
    std::vector<std::string> kept;
    for (char **variable = environ; variable && *variable; variable++) {
        const std::string_view text = *variable;
        if (is_kept(text.substr(0, text.find('='))))
            kept.emplace_back(text);
    }
    return kept;
}

ChildProcess::ChildProcess(pid_t number)
    : number_(number), handle_(static_cast<int>(syscall(SYS_pidfd_open, number, 0)))
{
}

ChildEnd ChildProcess::wait(Clock::time_point deadline) const
{
    for (;;) {
        int status = 0;
        pid_t got = waitpid(number_, &status, WNOHANG);
        if (got == number_)
            return {.come = true, .known = true, .status = status};
        // The host program ignores SIGCHLD, or reaped the child first.
        if (got < 0 && errno == ECHILD)
            return {.come = true, .known = false, .status = 0};
        if (Clock::now() >= deadline)
            return {.come = false, .known = false, .status = 0};
        sleep_until_end(deadline);
    }
}

void ChildProcess::end_by_force() const
{
    siginfo_t info{};
    if (handle_.is_open())
        syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
    // Once the child is reaped, its number may belong to another process.
    else if (waitid(P_PID, static_cast<id_t>(number_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        kill(number_, SIGKILL);
}

// May wake early.
void ChildProcess::sleep_until_end(Clock::time_point deadline) const
{
    // If the child was reaped before the handle was opened, the handle is another process's.
    constexpr int longest_ms = 50, without_handle_ms = 1;
    pollfd end{.fd = handle_.get(), .events = POLLIN, .revents = 0};
    int most_ms = handle_.is_open() ? longest_ms : without_handle_ms;
    poll(&end, handle_.is_open() ? 1 : 0, std::min(most_ms, milliseconds_until(deadline)));
}

int milliseconds_until(ChildProcess::Clock::time_point deadline)
{
    using Milliseconds = std::chrono::milliseconds;
    const auto left = std::chrono::ceil<Milliseconds>(deadline - ChildProcess::Clock::now());
    return static_cast<int>(
        std::clamp<Milliseconds::rep>(left.count(), 0, std::numeric_limits<int>::max()));
}

} // namespace dnn_torch
