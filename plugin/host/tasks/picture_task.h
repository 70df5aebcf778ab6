// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that makes one picture of each.
#pragma once

#include "host/contract/contract.h"
#include "host/frames/codes.h"
#include "host/frames/frame_pool.h"
#include "link_formats.h"
#include "model_probe.h"
#include "task.h"

#include <memory>

namespace dnn_torch
{

// All threads take frames from `frames`; they only read the rest.
struct PicturePlan : TaskPlan {
    PicturePlan(const FrameShape &frames_in, Size size_out, const Contract &numbers)
        : contract(numbers), frames(format_of_results(frames_in), size_out)
    {
        input = frames_in;
        output = size_out;
    }

    std::unique_ptr<TaskSession> open_session() const override;
    AVPixelFormat code_format() const { return format_of_codes(input.format, channels); }
    // Whether results keep the format of their frames.
    bool keeps_format() const { return format_of_results(input) == input.format; }

    // From now on runs that plan, and brings frames to the model as it takes them best.
    void follow(std::shared_ptr<const ModelPlan> plan);

    std::shared_ptr<const ModelPlan> model;
    Contract contract;
    int channels = 3;         // of the model's input
    int made = 3;             // channels of its output
    bool interleaved = false; // the model is fastest with its channels side by side
    bool codes = false;       // the model takes and gives a frame's own integer samples
    FramePool frames;         // for results
};

class PictureTask : public Task
{
public:
    PictureTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size);

    TaskFindings study() override;
    const AVPixelFormat *formats() const override { return link_formats(found_, contract_.as).in; }
    const AVPixelFormat *result_formats() const override
    {
        return link_formats(found_, contract_.as).out;
    }
    Size output_for(const FrameShape &input) override;
    NewPlan plan(const FrameShape &input, double tuning_seconds) override;

private:
    int channels_of(AVPixelFormat format) const;
    void check_contract(int channels) const; // throws Error
    void follow_model();
    int made_of(int channels) const { return found_.made ? found_.made : channels; }

    ModelProbe probe_;
    Contract contract_;
    size_t batch_size_;
    FoundChannels found_{Channels::any, 0, ""};
};

} // namespace dnn_torch
