// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a detector on frames, and converts its detections to frame coordinates.
#pragma once

#include "detect_task.h"
#include "host/frames/frame_feeder.h"
#include "host/model/model.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dnn_torch
{

// Converts a detection from the model's input to frame coordinates, and clips it at the frame's
// edges.  Returns false if what is left is less than half a pixel wide or high.
bool bring_into_frame(const Placement &placement, Size frame, Detection &detection);

class DetectSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit DetectSession(const DetectPlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    // The last frame's parameters, and what is derived from them.
    struct Current {
        std::shared_ptr<const DetectParameters> parameters;
        WantedClasses wanted;
    };

    Images input_for(const FrameJob &job);
    void feed(FrameJob &job, const Images &input);
    std::span<const DnnTorchTensor> run_model(FrameJob &job, const Images &input);
    void find(FrameJob &job, std::span<const DnnTorchTensor> tensors);
    std::shared_ptr<Findings> findings_in(std::span<const DnnTorchTensor> tensors, int index);
    void hide(std::span<const DnnTorchTensor> tensors, Findings &findings) const;
    void follow(int64_t frame);

    const DetectPlan &plan_;
    Session session_;
    FrameFeeder feeder_;
    std::vector<DnnTorchTensor> tensors_;
    std::vector<Detection> found_;
    std::optional<Current> current_;
    InputMemory memory_;
};

} // namespace dnn_torch
