// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts frames to model inputs, runs the model, and converts its outputs to frames.
#pragma once

#include "host/frames/frame_converter.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/picture.h"
#include "host/model/model.h"
#include "picture_task.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Passes frames on without the model.  Belongs to one thread.
class PassBy
{
public:
    // Passes frames as they are, or converted to the size and format of the plan's results.
    void pass(const PicturePlan &plan, FrameJob &job);

private:
    FrameScaler scaler_;
    FrameConverter converter_;
};

// Returns a frame of the pool with the properties of `like`.  Throws Error or std::bad_alloc.
FramePointer taken_from(const FramePool &pool, const AVFrame *like);

// Replaces the item's frame with `result`.
void set_result(FrameItem &item, FramePointer result);

class PictureSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit PictureSession(const PicturePlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    Images input_for(const FrameJob &job);
    void convert_in(FrameJob &job, const Images &input);
    void convert_out(FrameJob &job, const Images &output);
    void finish(FrameItem &item, const Images &output, int index, bool &saw_nan);
    bool write(const FrameItem &item, const Images &output, int index, AVFrame *result);
    bool write_part(const FrameItem &item, const Images &output, int index, AVFrame *result,
                    Part part);
    bool write_measured_depth(const Images &output, int index, AVFrame *result);
    void check_size(const Images &output) const;

    const PicturePlan &plan_;
    Session session_;
    FrameScaler scaler_;
    PassBy pass_by_;
    Mixer mixer_;
    InputMemory memory_;
    std::vector<float> depth_;
};

} // namespace dnn_torch
