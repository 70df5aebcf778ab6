// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Carries the last findings over frames that the model does not get.
#pragma once

#include "findings.h"
#include "host/detection/tracker.h"
#include "host/size.h"

#include <cstdint>

namespace dnn_torch
{

// Belongs to one thread and is called for each frame, in order.
class CarriedFindings
{
public:
    // `tracks`: objects get numbers, and keep moving as before.
    explicit CarriedFindings(bool tracks) : tracks_(tracks) {}

    // Takes the model's findings in a frame of that size, and numbers the objects.
    Findings found(Findings found, Size size);
    // Takes the model's findings in an earlier frame, so many frames before the last one of these
    // calls.  Ignores them if there are later ones.
    void found_late(Findings found, Size size, int64_t frames_ago);
    // Returns the findings for a frame of that size that the model did not get.
    Findings carry(Size size);
    // For a frame that the model did not get, with objects that other filters found: gives the
    // frame and each object the classes of the last frame and of its matching object.
    void reapply_classes(Findings &now) const;
    // Drops the last findings.
    void forget();
    // Called for a frame without findings.
    void pass();

private:
    void keep(Findings found);
    void predict(int64_t frames);
    void number(std::vector<Finding> &things);
    void move(std::vector<Finding> &things) const;

    bool tracks_;
    Tracker tracker_, measured_; // now, and when last_ was found
    int64_t since_ = 0;          // frames since then
    Findings last_;              // positions are those of the frame that the model got
    Size size_ = {};
};

} // namespace dnn_torch
