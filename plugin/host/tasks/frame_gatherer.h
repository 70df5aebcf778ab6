// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Groups incoming frames into jobs.  Gives each frame its neighbours, and puts as many frames into
// a job as the plan's batch size, or a segment.  The frames that a segment shares with the next one
// are in both, and half of them are `seen_only` in each, so that a frame's result comes from the
// segment in which it is farthest from the ends.
#pragma once

#include "host/model/contract.h"
#include "task.h"

#include <deque>
#include <memory>

namespace dnn_torch
{

// Returns the frame at that distance from the item's own, which is 0, or what stands for it beyond
// a border.
SharedFrame &frame_at(const FrameItem &item, int distance, Border border);

// Belongs to one thread.
class FrameGatherer
{
public:
    // `item` has no neighbours yet.  If the plan makes another rate, a frame that is not later than
    // the one before takes its place and its time, as in `fps`.  Successive frames may have
    // different plans with the same window; call flush() between plans with different windows.
    void add(FrameItem item, std::shared_ptr<const TaskPlan> plan);

    // Completes all frames with the neighbours received so far: the stream ends, or the next frame
    // cannot be their neighbour, as `successor` says.
    void flush(const Successor &successor = {.kind = Successor::Kind::end});

    // Does so before a frame of another size, which may take the place of the last one as in add().
    void flush_before(FrameItem &next);

    // Completes the current batch, full or not, unless it is a segment.
    void end_batch();

    // Returns the next complete job; nullptr if there is none.
    std::unique_ptr<FrameJob> next();

    // Returns how many frames next() has not handed out yet.
    size_t frames() const;

private:
    struct Received {
        FrameItem item; // its shared frame is kept while it may be a neighbour
        std::shared_ptr<const TaskPlan> plan;
    };
    void replace_last(FrameItem &next);
    void give_neighbours(FrameItem &item, const Window &window) const;
    Successor successor_of_first(const Successor &after_all) const;
    void put_first_into_batch(const Successor &after_all = {});
    bool follows_batch(const FrameItem &item, const TaskPlan &plan) const;
    void hand_over_batch();
    void begin_next_segment();
    void begin_batch(const FrameItem &item, std::shared_ptr<const TaskPlan> plan);
    void drop_unreachable(const Window &window);

    std::deque<Received> received_;
    size_t first_ = 0; // in received_: the oldest frame that is in no batch yet
    std::unique_ptr<FrameJob> batch_;
    bool starts_anew_ = false; // the next job that does not bypass the model does
    // Of the last job that does not bypass the model.
    std::weak_ptr<const TaskPlan> last_plan_; // null if the job may not run the model
    int64_t last_number_ = 0;                 // of the job's first frame
    std::deque<std::unique_ptr<FrameJob>> ready_;
};

} // namespace dnn_torch
