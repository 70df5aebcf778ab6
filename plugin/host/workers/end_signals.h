// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Detects that the user ends the program by a signal.
#pragma once

#include <chrono>

namespace dnn_torch
{

// The program checks whether a signal came, but not while a filter waits for a model.  So we put a
// handler before those that the program has for SIGINT, SIGTERM, SIGQUIT and SIGXCPU.  It records
// the time and calls the program's handler with its own arguments.  It stays installed: a program
// may have another graph after this one.  Signals without a handler are left alone, and so are
// those for which the program later sets another handler, which might call ours.
//
// Any thread may create and query one.
class EndSignals
{
public:
    // For how long after a signal new objects still report it.
    static constexpr std::chrono::seconds memory{2};

    EndSignals() noexcept;

    // Whether a signal came since this object was created, or shortly before.  Once true, stays so.
    bool came() const noexcept;

    // Puts our handlers before those that the program has set since.  Must precede each wait.
    static void watch() noexcept;

private:
    std::chrono::steady_clock::time_point since_;
};

} // namespace dnn_torch
