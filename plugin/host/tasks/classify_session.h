// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs a classifier on frames, or on the boxes in them.
#pragma once

#include "classify_task.h"
#include "host/frames/frame_feeder.h"
#include "host/model/model.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dnn_torch
{

class ClassifySession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit ClassifySession(const ClassifyPlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    // One picture of the model's input.
    struct Crop {
        size_t item; // index of its frame in the job
        std::shared_ptr<const ClassifyParameters> parameters;
        Findings *findings;
        std::optional<size_t> thing; // index in the findings; none: the whole frame
        Placement placement;
    };

    std::vector<Crop> crops_of(const FrameItem &item, size_t place, Findings &findings) const;
    Placement whole(const AVFrame &frame) const;
    void classify(FrameJob &job, std::span<const Crop> crops);
    Images input_for(size_t pictures);
    void feed(FrameJob &job, std::span<const Crop> crops, const Images &input);
    std::vector<DnnTorchTensor> run_model(FrameJob &job, const Images &input);
    std::vector<LabelScore> classes_of(const Scores &scores,
                                       const ClassifyParameters &parameters) const;

    const ClassifyPlan &plan_;
    Session session_;
    FrameFeeder feeder_;
    InputMemory memory_;
};

} // namespace dnn_torch
