// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Learns that the user ends the program by a signal.
#pragma once

#include <chrono>

namespace dnn_torch
{

// The program asks itself whether a signal came, but not while a filter waits for a model.  So the
// handlers that it has for SIGINT, SIGTERM, SIGQUIT and SIGXCPU get one of ours before them, which
// notes the time and calls them with all that it got.  They stay there: a program may have another
// graph after this one.  A signal without a handler is left alone, and so is one for which the
// program later sets another handler, which might call ours.
//
// Any thread may make one and ask it.
class EndSignals
{
public:
    // How much later what begins after a signal still knows of it.
    static constexpr std::chrono::seconds memory{2};

    EndSignals() noexcept;

    // Whether one came since this object was made, or shortly before.  If so, it stays true.
    bool came() const noexcept;

    // Puts our handlers before those that the program has set since.  Call it before waiting.
    static void watch() noexcept;

private:
    std::chrono::steady_clock::time_point since_;
};

} // namespace dnn_torch
