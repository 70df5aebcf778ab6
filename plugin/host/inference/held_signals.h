// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Holds the signals back by which a user ends a program.
#pragma once

#include <array>
#include <signal.h>

namespace dnn_torch
{

// While one lives, no handler of the program's runs for them, on any thread; what
// came is raised on this thread afterwards, as often as it came.  A signal that
// the program has no handler for does what it always does.  One at a time.
//
// For moments in which a handler that calls exit() would crash the process or
// never come back: ffmpeg's does so at the fourth signal.
class HeldSignals
{
public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals &) = delete;
    HeldSignals &operator=(const HeldSignals &) = delete;

private:
    struct Held {
        int number;
        bool is_held;
        struct sigaction before;
    };
    std::array<Held, 4> held_; // SIGINT, SIGTERM, SIGQUIT and SIGHUP
};

// From now on one of these signals ends the process at once with that status, if the
// program has a handler for it.  For the time in which exit() runs: a handler that
// calls exit() as well would interrupt destructors by what comes after them.
void leave_at_signals(int status) noexcept;

} // namespace dnn_torch
