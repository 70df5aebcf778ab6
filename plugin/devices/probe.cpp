// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probe.h"

#include "base/compose.h"
#include "base/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;
using Outcome = ProbeResult::Outcome;

// A probe prints some lines.  More than this is a driver that does not stop.
constexpr size_t longest_text = 1 << 20;

class SpawnSetting
{
public:
    explicit SpawnSetting(int output)
    {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
        // The pipe comes first: if the program runs without 0, 1 or 2, the pipe has
        // one of these numbers.
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        reset_signals();
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
    void reset_signals()
    {
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        sigfillset(&signals);
        sigdelset(&signals, SIGKILL);
        sigdelset(&signals, SIGSTOP);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
};

// Preloaded objects, ours and the user's, are meant for the program and not for the probe.
std::vector<char *> environment_without_preload()
{
    constexpr char preload[] = "LD_PRELOAD=";
    std::vector<char *> kept;
    for (char **variable = environ; *variable; variable++)
        if (std::strncmp(*variable, preload, sizeof(preload) - 1) != 0)
            kept.push_back(*variable);
    kept.push_back(nullptr);
    return kept;
}

// Returns 0 and sets the child's number, or returns an errno.
//
// posix_spawn() and no library for processes: the probe must start from any thread
// without running code of ours in a forked copy of a program that has many.
int start(const std::string &program, const std::vector<std::string> &arguments, int output,
          pid_t &child)
{
    std::vector<char *> words{const_cast<char *>(program.c_str())};
    for (const std::string &argument : arguments)
        words.push_back(const_cast<char *>(argument.c_str()));
    words.push_back(nullptr);
    SpawnSetting setting(output);
    return posix_spawn(&child, program.c_str(), &setting.actions, &setting.attributes, words.data(),
                       environment_without_preload().data());
}

int milliseconds_until(Clock::time_point deadline)
{
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

// Returns true if the other end was closed in time.  An endless text counts as none.
bool read_until_closed(int input, Clock::time_point deadline, std::string &text)
{
    char piece[4096];
    while (text.size() < longest_text) {
        pollfd ready{.fd = input, .events = POLLIN, .revents = 0};
        int count = poll(&ready, 1, milliseconds_until(deadline));
        if (count == 0)
            return false;
        ssize_t got = count > 0 ? read(input, piece, sizeof(piece)) : -1;
        if (got == 0)
            return true;
        if (got > 0)
            text.append(piece, static_cast<size_t>(got));
        else if (errno != EINTR)
            return false;
    }
    return false;
}

struct End {
    bool come;  // the child is gone
    bool known; // and this is how
    int status;
};

class Child
{
public:
    // `number` was returned by posix_spawn().
    explicit Child(pid_t number)
        : number_(number), handle_(static_cast<int>(syscall(SYS_pidfd_open, number, 0)))
    {
    }

    // Never blocks in waitpid(): a process that hangs inside a kernel driver does not
    // even die of SIGKILL.
    End wait(Clock::time_point deadline) const
    {
        for (;;) {
            int status = 0;
            pid_t got = waitpid(number_, &status, WNOHANG);
            if (got == number_)
                return {.come = true, .known = true, .status = status};
            // The program ignores SIGCHLD, or was quicker to reap it.
            if (got < 0 && errno == ECHILD)
                return {.come = true, .known = false, .status = 0};
            if (Clock::now() >= deadline)
                return {.come = false, .known = false, .status = 0};
            sleep_until_end(deadline);
        }
    }

    void end_by_force() const
    {
        siginfo_t info{};
        if (handle_.is_open())
            syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
        // Its number may belong to somebody else once it was reaped.
        else if (waitid(P_PID, static_cast<id_t>(number_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            kill(number_, SIGKILL);
        wait(Clock::now() + std::chrono::seconds(1));
    }

private:
    // May wake early.
    void sleep_until_end(Clock::time_point deadline) const
    {
        // If another thread reaped the child before it was opened, the handle is a stranger's.
        constexpr int longest_ms = 50, without_handle_ms = 1;
        pollfd end{.fd = handle_.get(), .events = POLLIN, .revents = 0};
        int most_ms = handle_.is_open() ? longest_ms : without_handle_ms;
        poll(&end, handle_.is_open() ? 1 : 0, std::min(most_ms, milliseconds_until(deadline)));
    }

    pid_t number_;
    Descriptor handle_; // below 0 where the kernel (before 5.3) or a sandbox gives none
};

std::string describe(const End &end)
{
    if (!end.known)
        return "how is not known";
    if (WIFSIGNALED(end.status))
        return concat("signal ", WTERMSIG(end.status));
    return concat("exit status ", WEXITSTATUS(end.status));
}

std::string describe(std::chrono::milliseconds limit)
{
    return limit.count() % 1000 ? concat(limit.count(), " ms") : concat(limit.count() / 1000, " s");
}

ProbeResult not_started(int error)
{
    return {.outcome = Outcome::not_started,
            .records = {},
            .detail = std::generic_category().message(error)};
}

} // namespace

ProbeResult run_probe(const std::string &program, const std::vector<std::string> &arguments,
                      std::chrono::milliseconds limit)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return not_started(errno);
    Descriptor input(ends[0]), output(ends[1]);

    Clock::time_point deadline = Clock::now() + limit;
    pid_t number = -1;
    if (int error = start(program, arguments, output.get(), number))
        return not_started(error);
    Child child(number);
    output = Descriptor(); // the pipe ends with the child

    std::string text;
    bool closed = read_until_closed(input.get(), deadline, text);
    End end = closed ? child.wait(deadline) : End{};
    if (!end.come)
        child.end_by_force();
    Records records = parse_records(text);
    ProbeResult result = {
        .outcome = Outcome::crashed, .records = std::move(records.list), .detail = {}};
    // The last line counts, not the status: that may be somebody else's by now.
    if (records.complete)
        result.outcome = Outcome::finished;
    else if (text.size() >= longest_text)
        result.detail = "it prints without end";
    else if (end.come)
        result.detail = describe(end);
    else
        result = {.outcome = Outcome::out_of_time,
                  .records = std::move(result.records),
                  .detail = describe(limit)};
    return result;
}

} // namespace dnn_torch
