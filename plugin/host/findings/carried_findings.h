// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What was found last, carried over frames that the model does not see.
#pragma once

#include "findings.h"
#include "host/detection/tracker.h"
#include "host/size.h"

namespace dnn_torch
{

// Belongs to one thread and is called for each frame, in order.
class CarriedFindings
{
public:
    // `tracks`: things get numbers, and move on as they did.
    explicit CarriedFindings(bool tracks) : tracks_(tracks) {}

    // Takes what the model found in a frame of that size, and numbers its things.
    Findings found(Findings found, Size size);
    // Returns what a frame of that size has that the model did not see.
    Findings carry(Size size);
    // Gives the things of such a frame, which others found, the classes that were said of the
    // thing in their place; and the frame its classes.
    void say_again(Findings &now) const;
    // Nothing is carried on.
    void forget();
    // A frame passes that has no findings.
    void pass();

private:
    void number(std::vector<Finding> &things);
    void move(std::vector<Finding> &things) const;

    bool tracks_;
    Tracker tracker_;
    Findings last_; // where its things were seen
    Size size_ = {};
};

} // namespace dnn_torch
