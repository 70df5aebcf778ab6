// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Starts our own programs, which run code that may hang or crash.
#pragma once

#include "descriptor.h"

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace dnn_torch
{

struct ProgramStart {
    std::string program; // the path
    std::vector<std::string> arguments;
    std::vector<std::string> environment; // "NAME=value"
    int output = -1;                      // becomes its standard output
    int errors = -1;                      // becomes its standard error; below 0: /dev/null
    std::vector<int> inherited;           // become 3, 4, ...; all others are closed
    bool has_own_session = false;         // the terminal's signals do not reach it
};

// Starts a program with default signal handling.  Returns 0 and sets `child`, or returns an errno.
// Any thread.  Runs none of our code in a forked copy of this process, which may have many threads.
int start_program(const ProgramStart &start, pid_t &child);

// Returns the environment variables for whose names `is_kept` returns true.
std::vector<std::string> environment_where(bool (*is_kept)(std::string_view name));

// How a child ended.
struct ChildEnd {
    bool come;  // it has ended
    bool known; // and `status` is that of waitpid()
    int status;
};

// A child that start_program() started.  Belongs to one thread, except for end_by_force() and
// handle().
class ChildProcess
{
public:
    using Clock = std::chrono::steady_clock;

    explicit ChildProcess(pid_t number);

    // Reaps the child if it ends before the deadline.  Never blocks in waitpid(), because not even
    // SIGKILL ends a process that hangs inside a kernel driver.
    ChildEnd wait(Clock::time_point deadline) const;

    // Sends SIGKILL to the child, and never to another process that got its number.
    void end_by_force() const;

    pid_t number() const { return number_; }
    // Returns a descriptor that becomes readable when the child ends.  Below 0 if the kernel
    // (before 5.3) or a sandbox grants none.
    int handle() const { return handle_.get(); }

private:
    void sleep_until_end(Clock::time_point deadline) const;

    pid_t number_;
    Descriptor handle_;
};

// Returns the remaining milliseconds for poll(), rounded up, never below 0.
int milliseconds_until(ChildProcess::Clock::time_point deadline);

} // namespace dnn_torch
