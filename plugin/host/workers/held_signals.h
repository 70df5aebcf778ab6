// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Holds back the signals by which a user ends a program.
#pragma once

#include <array>
#include <signal.h>

namespace dnn_torch
{

// While one lives, no handler of the program runs for these signals, on any thread.
// Afterwards each signal that came is raised on this thread, as often as it came.  A
// signal that the program has no handler for does what it always does.  Only one may
// live at a time.
//
// It is for moments in which a handler that calls exit() would crash the process or
// never come back.  ffmpeg's handler calls exit() at the fourth signal.
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

// Whether that action is a handler of somebody's, and not what a signal does by default.
bool is_handled(const struct sigaction &action);

// Whether that action belongs to a HeldSignals.
bool is_held_back(const struct sigaction &action);

// From now on each of these signals ends the process at once with that status, if the
// program has a handler for it.  Call it while exit() runs: a handler that calls exit()
// again would run later handlers in the midst of a destructor.
void leave_at_signals(int status) noexcept;

} // namespace dnn_torch
