// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Follows things over frames, as SORT does: each thing is expected where its motion leads it, and
// detections go to the expected boxes that they overlap.
#pragma once

#include "detection.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dnn_torch
{

struct TrackerParameters {
    float least_overlap = 0.3F; // of a detection and the box that was expected, from 0 to 1
    int lost_after = 30;        // frames without being seen
};

// A place that moves evenly, as it follows from what was measured (a Kalman filter).
class SteadyMotion
{
public:
    // `scale` is the extent of the thing, of which noise is a part.
    SteadyMotion(double place, double scale);

    void move_on(double scale);
    void measure(double place, double scale);
    double place() const { return place_; }

private:
    double place_, speed_ = 0; // pixels, pixels a frame
    // How unsure they are: the variances, and the covariance.
    double place_variance_, both_ = 0, speed_variance_;
};

// Gives things numbers that stay.  Belongs to one thread.  The same calls give the same numbers.
//
// predict() or update() is called once for each frame, in the order of frames.
class Tracker
{
public:
    explicit Tracker(const TrackerParameters &parameters = {}) : parameters_(parameters) {}

    // A frame that the model skipped: all things move on.
    void predict();

    // A frame that the model saw.  Returns a number for each detection, from 1 on; a thing that
    // was not there before gets a new one.  Detections belong together if they overlap and have
    // the same label.
    std::vector<int64_t> update(std::span<const Detection> found);

    // Where the thing is expected in the frame of the last call, if it is not lost.
    std::optional<Box> box_of(int64_t number) const;

    // Forgets all things, after a cut or with another size of frames.  Numbers go on.
    void reset() { tracks_.clear(); }

private:
    struct Track {
        Track(int64_t its_number, const Detection &seen);

        void move_on();
        void measure(const Box &box);
        Box box() const;
        double scale() const;

        int64_t number;
        int label;
        int unseen = 0;                      // frames since it was seen
        std::array<SteadyMotion, 4> motions; // of the middle's x and y, width, height
    };

    std::vector<size_t> tracks_of(std::span<const Detection> found) const;

    TrackerParameters parameters_;
    std::vector<Track> tracks_; // in the order of their numbers
    int64_t next_number_ = 1;
};

} // namespace dnn_torch
