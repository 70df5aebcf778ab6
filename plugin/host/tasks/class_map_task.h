// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The segmentation task: the class of each pixel becomes a gray picture, a coloured one, or the
// frame's alpha.
#pragma once

#include "class_map_tensors.h"
#include "host/frames/class_maps.h"
#include "host/frames/frame_pool.h"
#include "host/frames/placement.h"
#include "host/model/contract.h"
#include "host/probing/model_probe.h"
#include "task.h"

#include <memory>
#include <vector>

namespace dnn_torch
{

// Threads take frames from `frames` concurrently, and only read the other members.
struct ClassMapPlan : TaskPlan {
    ClassMapPlan(const FrameShape &frames_in, const Contract &meaning)
        : contract(meaning), frames(format_of_results(frames_in), frames_in.size)
    {
        input = frames_in;
        output = frames_in.size;
    }

    std::unique_ptr<TaskSession> open_session() const override;

    Contract contract;
    std::shared_ptr<const ModelPlan> model;
    ClassMapTensor maps;
    ShownClasses shown;
    Size picture = {};   // size of the model's input
    Placement placement; // of the frame in that input
    int channels = 3;
    FramePool frames; // for results
};

class ClassMapTask : public Task
{
public:
    ClassMapTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size);

    TaskFindings examine() override;
    const AVPixelFormat *formats() const override;
    const AVPixelFormat *result_formats() const override;
    ResultShape output_for(const FrameShape &input) override;
    Reuse reuse() const override
    {
        return contract_.as == As::alpha ? Reuse::alpha : Reuse::picture;
    }
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;

private:
    int class_count() const;
    // An input size that the model accepts, and the maps it returns for it.
    struct Tried {
        Size size;
        ClassMapTensor maps;
    };
    Tried attempt(Size size, int batch = 1);
    Tried try_any();
    Tried picture_for(Size frame);
    Placing placing() const;

    Contract contract_;
    size_t batch_size_;
    int channels_ = 3;
    int classes_ = 0; // 0: not known
    std::vector<std::string> labels_;
};

} // namespace dnn_torch
