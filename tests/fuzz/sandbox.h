// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs inputs in children, which may crash, hang and swallow memory.
#pragma once

#include "fuzz.h"

#include <functional>
#include <string>
#include <vector>

namespace fuzz
{

enum class Event : uint8_t {
    ended,   // the target said how
    crashed, // by a signal
    hung,    // before the input was let in
    too_long // as what was let in may do: neither accepted nor a fault
};

struct Result {
    Event event = Event::ended;
    Outcome outcome;
    int signal = 0;     // of a crash
    std::string place;  // of a crash: the innermost functions that are not the C library's
    double seconds = 0; // that it took

    bool is_finding() const;
    // What it is, in words that are the same for the same fault.
    std::string kind() const;
};

using MakeInput = std::function<std::string(size_t index)>;
using TakeResult = std::function<void(size_t index, const Result &result)>;

// Runs the target on what `make` gives for first, first + 1, ... first + count - 1, and hands
// each result to `take`, in order.  `make` is called in the child.
void run_in_children(size_t first, size_t count, const MakeInput &make, const TakeResult &take);

// One alone, in a child of its own.
Result run_alone(const std::string &input);

// Throws std::runtime_error unless this process has one thread, for others are not forked.
void require_one_thread();

} // namespace fuzz
