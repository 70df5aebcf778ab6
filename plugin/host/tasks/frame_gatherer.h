// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes jobs of the frames that come in.  Gives each frame its neighbours, and puts as
// many frames into one job as the plan wants.
#pragma once

#include "task.h"

#include <deque>
#include <memory>

namespace dnn_torch
{

// Belongs to one thread.
class FrameGatherer
{
public:
    // `item` comes without neighbours.  Successive frames may have different plans with the
    // same window; call flush() between plans with different windows.
    void add(FrameItem item, std::shared_ptr<const TaskPlan> plan);

    // Completes all frames with the neighbours that they have: the stream ends, or the next
    // frame cannot be their neighbour.
    void flush();

    // Completes the batch that is being gathered, as it is.
    void cut();

    // Returns the next job that is complete; nullptr if there is none.
    std::unique_ptr<FrameJob> next();

    // Returns how many frames wait here for others.
    size_t frames() const;

private:
    struct Seen {
        FrameItem item; // its frame stays here while it may be a neighbour
        std::shared_ptr<const TaskPlan> plan;
    };
    void give_neighbours(FrameItem &item, const Window &window) const;
    void put_first_into_batch();
    void begin_batch(const FrameItem &item, std::shared_ptr<const TaskPlan> plan);
    void forget_what_no_window_reaches(const Window &window);

    std::deque<Seen> seen_;
    size_t first_ = 0; // in seen_: the oldest that is in no job yet
    std::unique_ptr<FrameJob> batch_;
    // Of the last job that does not bypass the model.
    std::weak_ptr<const TaskPlan> last_plan_; // null if it may have no run
    int64_t last_number_ = 0;                 // of its first frame
    std::deque<std::unique_ptr<FrameJob>> ready_;
};

} // namespace dnn_torch
