// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides when frames have to leave a filter, from times alone: it reads no clock.
#pragma once

#include "host/workers/statistics.h"

#include <cstddef>

namespace dnn_torch
{

// What becomes of a frame whose result is not ready in time.
enum class Late {
    automatic = -1,
    pass, // it leaves as it came
    last, // it gets the result of an earlier frame
    drop,
    hide, // it is filled
};

constexpr const char *hides_nothing_mixed =
    "strength mixes each result with its frame, and late=hide shows no frame; leave strength at 1";

struct DeadlineSettings {
    Clock::duration limit{0}; // from arrival to departure; 0: none
    Late late = Late::pass;
};

// Belongs to one thread.
class Deadlines
{
public:
    using Time = Clock::time_point;

    explicit Deadlines(const DeadlineSettings &settings) : settings_(settings) {}

    bool any() const { return settings_.limit.count() != 0; }
    Late late() const { return settings_.late; }

    // ---- what happens ----
    // The stream says that it has so many frames in a second; 0: it does not say.
    void expect(double frames_per_second) { rate_ = frames_per_second; }
    // A frame comes.  `seconds` is its timestamp, or NaN.
    void came(Time arrival, double seconds);
    // A run took so long.
    void ran(double seconds);
    // A frame was late before a worker began it.
    void was_not_begun();

    // Returns the seconds between frames, by their timestamps or else by the stream's rate; 0 if
    // not known.
    double interval() const { return interval_ > 0 || !(rate_ > 0) ? interval_ : 1 / rate_; }

    // ---- what is to be done ----
    // When the frame has to leave.  A little before its deadline, because that takes time.
    Time due(Time arrival) const;

    // After which time a run is not worth to be begun: its result would be too late to be used.
    Time begin_by(Time arrival) const;
    // After which time a run of a newer frame is worth more, because both would be late.
    Time yields_after(Time arrival) const;

    // How long the filter waits for the result of its oldest frame: until that is due, or until the
    // next frame is expected if that is earlier.  `nothing_else`: no frame can come in.
    Time wait_until(Time oldest, bool nothing_else) const;

    // How many frames come in until the first one is due.
    size_t most_frames() const;

private:
    DeadlineSettings settings_;
    Time latest_{};                 // arrival
    double latest_seconds_ = 0;     // its timestamp
    double rate_ = 0;               // frames in a second; 0: not known
    double interval_ = 0, run_ = 0; // seconds between frames, and of a run; 0: not known
    size_t not_begun_ = 0;          // frames since the last run
};

} // namespace dnn_torch
