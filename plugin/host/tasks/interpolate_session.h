// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes the frames between a frame and the next one with a picture session.
#pragma once

#include "interpolate_task.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace dnn_torch
{

// Belongs to one thread, except for stop().
class InterpolateSession : public TaskSession
{
public:
    explicit InterpolateSession(const InterpolatePlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { pictures_->reset(); }
    void stop() noexcept override { pictures_->stop(); }

private:
    // A frame to be made between two, and where it goes.
    struct Interpolation {
        FrameItem *item;
        std::shared_ptr<SharedFrame> first, second;
        double t; // between them
        FramePointer *result;
    };
    // Frames between a pair, by their place in 1/finest.
    using Made = std::map<int, std::shared_ptr<SharedFrame>>;

    void add_interpolations(FrameItem &item, std::vector<Interpolation> &wanted);
    void make(FrameJob &job, std::span<const Interpolation> wanted);
    std::span<const Interpolation> first_run(std::span<const Interpolation> wanted) const;
    void run_once(FrameJob &job, std::span<const Interpolation> wanted);
    void halve(FrameJob &job, FrameItem &item);
    std::shared_ptr<SharedFrame> made_at(FrameJob &job, FrameItem &item, int place, Made &made);

    const InterpolatePlan &plan_;
    std::unique_ptr<TaskSession> pictures_;
};

} // namespace dnn_torch
