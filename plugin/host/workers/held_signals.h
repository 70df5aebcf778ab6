// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Holds back the signals by which a user ends a program.
#pragma once

#include <array>
#include <signal.h>

namespace dnn_torch
{

// While one exists, no handler of the program runs for these signals, on any thread.  Afterwards
// each signal that came is raised on this thread, as often as it came.  A signal for which the
// program has no handler keeps its effect.  Only one may exist at a time.
//
// It is for moments in which a handler that calls exit() would crash the process or never return.
// ffmpeg's handler calls exit() at the fourth signal.
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

// Whether that action is a handler function, neither SIG_DFL nor SIG_IGN.
bool is_handled(const struct sigaction &action);

// Whether that action belongs to a HeldSignals.
bool is_held_back(const struct sigaction &action);

// Lets each of these signals that the program has a handler for end the process at once with that
// status.  Must be called while exit() runs: a handler that calls exit() again would run later
// handlers in the middle of a destructor.
void leave_at_signals(int status) noexcept;

} // namespace dnn_torch
