// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Programs of our own that run what may hang or crash.
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
    std::string program; // its path
    std::vector<std::string> arguments;
    std::vector<std::string> environment; // "NAME=value"
    int output = -1;                      // becomes its standard output
    int errors = -1;                      // becomes its standard error; below 0: /dev/null
    std::vector<int> inherited;           // become 3, 4, ...; it gets no other descriptors
    bool has_own_session = false;         // the terminal's signals do not reach it
};

// Starts a program with all signals as they are by default.  Returns 0 and sets `child`, or
// returns an errno.  Any thread.  Runs no code of ours in a forked copy of this program, which may
// have many threads.
int start_program(const ProgramStart &start, pid_t &child);

// This program's variables for whose names `is_kept` returns true.
std::vector<std::string> environment_where(bool (*is_kept)(std::string_view name));

// How a child came to its end.
struct ChildEnd {
    bool come;  // it is gone
    bool known; // and `status` is what waitpid() said
    int status;
};

// A child that start_program() started.  Belongs to one thread, except for end_by_force() and
// handle().
class ChildProcess
{
public:
    using Clock = std::chrono::steady_clock;

    explicit ChildProcess(pid_t number);

    // Reaps the child if it ends before the deadline.  Never blocks in waitpid(): a process that
    // hangs inside a kernel driver does not even die of SIGKILL.
    ChildEnd wait(Clock::time_point deadline) const;

    // Sends SIGKILL, to no other process.
    void end_by_force() const;

    pid_t number() const { return number_; }
    // Becomes readable when the child ends.  Below 0 where the kernel (before 5.3) or a sandbox
    // gives none.
    int handle() const { return handle_.get(); }

private:
    void sleep_until_end(Clock::time_point deadline) const;

    pid_t number_;
    Descriptor handle_;
};

// Time until then in milliseconds, rounded up, as poll() takes it; never below 0.
int milliseconds_until(ChildProcess::Clock::time_point deadline);

} // namespace dnn_torch
