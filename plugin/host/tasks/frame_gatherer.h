// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes jobs of the frames that come in: gives each its neighbours, and puts as many
// into one job as its plan wants.
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
    // `item` comes without neighbours.  Frames that follow each other may have different
    // plans, as long as their windows are alike; flush() comes in between if they are not.
    void add(FrameItem item, std::shared_ptr<const TaskPlan> plan);

    // The frames before have seen all their neighbours: the stream ends, or what comes
    // next cannot stand beside them.
    void flush();

    // The batch that is being gathered goes as it is.
    void cut();

    // The next job that is complete; nullptr if there is none.
    std::unique_ptr<FrameJob> next();

    // How many wait here for others.
    size_t frames() const;

private:
    struct Seen {
        FrameItem item; // its frame stays here while it may be a neighbour
        std::shared_ptr<const TaskPlan> plan;
    };
    void give_neighbours(FrameItem &item, const Window &window) const;
    void put_first_into_batch();
    void forget_what_no_window_reaches(const Window &window);

    std::deque<Seen> seen_;
    size_t first_ = 0; // in seen_: the oldest that is in no job yet
    std::unique_ptr<FrameJob> batch_;
    std::deque<std::unique_ptr<FrameJob>> ready_;
};

} // namespace dnn_torch
