// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a segmentation model on frames, and converts its class maps to pictures.
#pragma once

#include "class_map_task.h"
#include "host/frames/frame_converter.h"
#include "host/frames/frame_feeder.h"
#include "host/model/input_memory.h"

#include <cstddef>
#include <span>
#include <vector>

namespace dnn_torch
{

class ClassMapSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit ClassMapSession(const ClassMapPlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    Images input_for(const FrameJob &job);
    void feed(FrameJob &job, const Images &input);
    MapWindow window_in(const ClassMaps &maps) const;
    FramePointer result_of(const FrameItem &item, const ClassMaps &maps);
    void write_alpha(ClassRows &rows, const FrameItem &item, AVFrame *result);

    const ClassMapPlan &plan_;
    Session session_;
    FrameFeeder feeder_;
    FrameConverter converter_;
    InputMemory memory_;
    std::vector<float> alpha_;
};

} // namespace dnn_torch
