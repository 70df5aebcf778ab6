// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs of frames that show the same, as in animation of 12 drawings a second: the first one goes
// on, and the others are dropped, so that there is one long step to the next picture.
#pragma once

#include "task.h"

#include <vector>

namespace dnn_torch
{

// Belongs to one thread.
class DuplicateRuns
{
public:
    // Takes the next frame.  Returns those that go on, in order.
    std::vector<FrameItem> pass(FrameItem item);

    // Returns the frames that are held: nothing is known of what comes next.
    std::vector<FrameItem> flush();

    size_t frames() const { return held_.size(); }

private:
    bool repeats(const FrameItem &item) const;

    FramePointer first_;          // of the run
    std::vector<FrameItem> held_; // the others
    bool is_still_ = false;       // the run is too long to be one step
};

} // namespace dnn_torch
