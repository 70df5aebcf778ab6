// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that classifies frames, or the boxes in them.  Frames pass unchanged.
#pragma once

#include "classify_parameters.h"
#include "findings_step.h"
#include "host/frames/frame_feeder.h"
#include "host/probing/classifier_probe.h"
#include "task.h"
#include "timed_parameters.h"

#include <memory>
#include <string>
#include <vector>

namespace dnn_torch
{

// Shared by all tasks of a filter.
struct ClassifyShared {
    ClassifySettings settings;
    std::shared_ptr<TimedParameters<ClassifyParameters>> parameters;
    std::shared_ptr<FindingsStep> step;
};

struct ClassifyPlan : TaskPlan {
    std::unique_ptr<TaskSession> open_session() const override;
    // A frame without boxes needs no run.
    bool surely_runs(const FrameItem &item) const override { return !is_about_boxes(item); }
    // Returns whether the model gets the frame's boxes instead of the whole frame.  Call it between
    // the task's begin() and complete().
    bool is_about_boxes(const FrameItem &item) const;

    std::shared_ptr<const ModelPlan> model;
    std::shared_ptr<const TimedParameters<ClassifyParameters>> parameters;
    ClassifySettings settings;
    std::vector<std::string> labels;
    ScoreTensor scores;
    PictureNumbers numbers;
    Size picture = {0, 0};
    Size chroma = {1, 1}; // pixels that share a sample of chroma
    int channels = 3;
    size_t pictures = 1;      // most pictures in one run of the model
    bool interleaved = false; // the model is fastest with interleaved channels (NHWC)
};

class ClassifyTask : public FindingsTask<ClassifyShared>
{
public:
    ClassifyTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size,
                 ClassifyShared shared);

    TaskFindings examine() override;
    const AVPixelFormat *formats() const override { return formats_to_feed(probe_.channels()); }
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;

private:
    std::string warning_of_labels() const;
    size_t requested_pictures() const;

    ClassifierProbe probe_; // refers to the contract
    std::vector<std::string> labels_;
};

} // namespace dnn_torch
