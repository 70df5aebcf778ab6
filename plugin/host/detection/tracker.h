// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tracks objects across frames, as SORT does: predicts each object's box from its motion, and
// assigns detections to the predicted boxes that they overlap.
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
    float least_overlap = 0.3F; // of a detection and the predicted box, from 0 to 1
    int lost_after = 30;        // frames without a detection
};

// A Kalman filter for a coordinate that moves at a constant speed.
class SteadyMotion
{
public:
    // `scale` is the extent of the object, to which the noise is proportional.
    SteadyMotion(double place, double scale);

    void predict(double scale);
    void measure(double place, double scale);
    double place() const { return place_; }

private:
    double place_, speed_ = 0; // pixels, pixels a frame
    double place_variance_, covariance_ = 0, speed_variance_;
};

// Gives objects numbers that stay the same across frames.  Deterministic.  Belongs to one thread.
//
// predict() or update() is called once for each frame, in the order of frames.
class Tracker
{
public:
    explicit Tracker(const TrackerParameters &parameters = {}) : parameters_(parameters) {}

    // For a frame that the model skipped: moves all objects.
    void predict();

    // For a frame that the model got.  Returns a number for each detection, from 1 on; a new object
    // gets a new number.  A detection matches a track if they overlap and have the same label.
    std::vector<int64_t> update(std::span<const Detection> found);

    // Returns the object's predicted box in the frame of the last call; nullopt if it is lost.
    std::optional<Box> box_of(int64_t number) const;

    // Drops all tracks, after a cut or a change of the frame size.  Numbers continue.
    void reset() { tracks_.clear(); }

private:
    struct Track {
        Track(int64_t its_number, const Detection &first);

        void predict();
        void measure(const Box &box);
        Box box() const;
        double scale() const;

        int64_t number;
        int label;
        int unseen = 0;                      // frames since the last detection
        std::array<SteadyMotion, 4> motions; // of the centre's x and y, width, height
    };

    std::vector<size_t> tracks_of(std::span<const Detection> found) const;

    TrackerParameters parameters_;
    std::vector<Track> tracks_; // in the order of their numbers
    int64_t next_number_ = 1;
};

} // namespace dnn_torch
