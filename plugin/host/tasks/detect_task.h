// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that detects objects.  Frames pass unchanged.
#pragma once

#include "detect_parameters.h"
#include "findings_step.h"
#include "host/frames/frame_feeder.h"
#include "host/probing/detector_probe.h"
#include "task.h"
#include "timed_parameters.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// Shared by all tasks of a filter.
struct DetectShared {
    DetectSettings settings;
    std::shared_ptr<TimedParameters<DetectParameters>> parameters;
    std::shared_ptr<FindingsStep> step;
};

struct DetectPlan : TaskPlan {
    std::unique_ptr<TaskSession> open_session() const override;

    std::shared_ptr<const ModelPlan> model;
    std::shared_ptr<const Decoder> decoder;
    std::shared_ptr<const TimedParameters<DetectParameters>> parameters;
    ClassNames names;
    PictureNumbers numbers;
    Placement placement;
    Size picture = {0, 0};
    int channels = 3;
    float border = 0;
    std::optional<WantedClasses> hidden; // classes
    bool with_masks = false;             // decode masks, not only boxes
    bool interleaved = false;            // the model is fastest with interleaved channels (NHWC)
};

class DetectTask : public FindingsTask<DetectShared>
{
public:
    DetectTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size,
               DetectShared shared);

    TaskFindings examine() override;
    const AVPixelFormat *formats() const override;
    ResultShape output_for(const FrameShape &input) override;
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;

    // Throws Error if the model lacks a requested class.
    void check(const DetectParameters &parameters) const;

private:
    void check_count_of_classes() const;
    std::string warning_of_labels() const;
    std::string warning_of_anchors(const Decoder &decoder) const;

    DetectorProbe probe_; // refers to contract_ and shared_
    ClassNames names_;
    std::string decoder_;
};

} // namespace dnn_torch
