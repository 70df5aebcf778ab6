// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that makes one picture of each.
#pragma once

#include "host/frames/codes.h"
#include "host/frames/frame_pool.h"
#include "host/frames/picture.h"
#include "host/frames/recoder.h"
#include "host/model/contract.h"
#include "host/probing/extra_pictures.h"
#include "host/probing/model_probe.h"
#include "host/tiling/picture_fit.h"
#include "host/tiling/tiling_state.h"
#include "link_formats.h"
#include "picture_warnings.h"
#include "task.h"

#include <memory>
#include <optional>
#include <vector>

namespace dnn_torch
{

// All threads take frames from `frames`; they only read the rest.
struct PicturePlan : TaskPlan {
    PicturePlan(const FrameShape &frames_in, Size size_out, const Contract &numbers,
                int frame_channels);

    std::unique_ptr<TaskSession> open_session() const override;
    // Whether what the model makes of a frame has the format that it was taken in.
    bool keeps_format() const { return formats.made == formats.taken; }
    // What of a result the model makes.
    Part part() const
    {
        return contract.as == As::alpha ? Part::alpha
               : contract.as == As::lab ? Part::chroma
                                        : Part::seen;
    }
    // Whether such runs take and give a frame's own integer samples.
    bool passes_codes(const ModelPlan &run) const;

    // Returns a frame for the result of `source`, in the formats of the work.  Throws Error or
    // std::bad_alloc.
    FramePointer frame_for(const AVFrame *source) const;

    // Throws Error if results cannot be mixed with their frames and one is to be.
    void check_strength(const FrameJob &job) const;

    // From now on runs frames as `how` says.
    void follow(std::shared_ptr<TilingState> how);

    // Fills picture `index` of `images` from `frame`.
    void read_frame(const AVFrame *frame, const Images &images, int index) const;

    // The same from `frame` and what came beside it.
    void read(const AVFrame *frame, const std::vector<FramePointer> &others, const Images &images,
              int index) const;

    // From now on runs that plan, and brings frames to the model as it takes them best.
    void follow(std::shared_ptr<const ModelPlan> plan);

    std::shared_ptr<const ModelPlan> model;
    Contract contract;
    std::vector<ExtraPicture> extra;
    std::shared_ptr<PictureWarnings> warnings; // of the task, so that each is told once
    WorkFormats formats;                       // of frames and results between the conversions
    int channels;                              // of the frames that go in
    int fed = 3;              // of the model's input: with those of the pictures beside them
    int made = 3;             // channels of its output
    bool interleaved = false; // the model is fastest with its channels side by side
    bool codes = false;       // the model takes and gives a frame's own integer samples
    FramePool frames;         // for results
    // For frames in the formats of the work, and for results in that of the link, if they differ.
    std::optional<FramePool> taken_frames, given_frames;
    // Null: each frame is run as it is, and what comes out is the result.
    std::shared_ptr<TilingState> tiling;
    std::optional<FramePool> seen_frames; // for frames that are scaled for the model
    std::optional<FramePool> made_frames; // for its results, if they are scaled
    std::optional<FramePool> depths;      // for numbers whose limits are not yet known
};

class PictureTask : public Task
{
public:
    PictureTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size);

    TaskFindings examine() override;
    const AVPixelFormat *formats() const override { return link_formats(found_, contract_.as).in; }
    const AVPixelFormat *result_formats() const override
    {
        return link_formats(found_, contract_.as).out;
    }
    std::vector<AVPixelFormat> results_of(AVPixelFormat format) const override;
    std::vector<FurtherPad> further_pads() const override;
    Size output_for(const FrameShape &input) override;
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;

private:
    FoundChannels find_channels();
    int channels_of(AVPixelFormat format) const;
    void check_contract(int channels) const; // throws Error
    void follow_model();
    // With the pictures beside the frame.
    ChannelCounts counts_of(AVPixelFormat format) const;
    PictureFit fit(const FrameShape &input);
    void check_fit(const PictureFit &fit) const; // throws Error
    std::shared_ptr<const PictureTiling> tiling_for(TilingState &tiling,
                                                    const PlanParameters &parameters) const;

    ModelProbe probe_;
    PictureFitter fitter_;
    Contract contract_;
    size_t batch_size_;
    std::shared_ptr<PictureWarnings> warnings_; // from the first plan on
    FoundChannels found_{Channels::any, 0, ""};
};

} // namespace dnn_torch
