// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Chooses N for every=auto, from times alone: it reads no clock.
#pragma once

#include <array>
#include <cstddef>

namespace dnn_torch
{

// The latest times of something.
class RecentTimes
{
public:
    static constexpr size_t most = 16;

    void add(double seconds);
    void clear() { *this = {}; }
    size_t count() const { return count_; }
    // Returns the time that about that share of them does not exceed.  There must be one.
    double quantile(double share) const;

private:
    std::array<double, most> seconds_{};
    size_t count_ = 0, next_ = 0;
};

// The smallest N with which the workers end a run before they get the next one.  Frames that the
// model gets are then late only if a run takes longer than the deadline, which no N changes.
// Belongs to one thread.
class ChosenEvery
{
public:
    // A frame comes so long after the one before it.
    void came(double step_seconds) { steps_.add(step_seconds); }

    // A run took so long, of which that many are done at the same time.  Returns whether every()
    // has changed.
    bool ran(double seconds, size_t workers);

    // Later runs are of another model or another size.
    void forget_runs();

    int every() const { return every_; }

private:
    bool change_to(int every);

    RecentTimes steps_, runs_;
    int every_ = 1;
    // Runs of each frame may be slower than those of every second one, because they compete.  So a
    // smaller N that had to be taken back is tried again after twice as many runs.
    static constexpr size_t least_patience = RecentTimes::most, most_patience = 1024;
    size_t patience_ = least_patience;
    size_t runs_since_ = 0; // the last change
    bool was_lowered_ = false;
};

} // namespace dnn_torch
