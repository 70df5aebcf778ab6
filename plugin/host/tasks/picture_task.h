// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The task that makes one picture from each frame.
#pragma once

#include "host/frames/frame_pool.h"
#include "host/frames/integer_samples.h"
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

// Threads take frames from `frames` concurrently, and only read the other members.
struct PicturePlan : TaskPlan {
    PicturePlan(const FrameShape &frames_in, Size size_out, const Contract &numbers,
                int frame_channels);

    std::unique_ptr<TaskSession> open_session() const override;
    // Returns whether the model's results have the same format as its frames.
    bool keeps_format() const { return formats.made == formats.taken; }
    // Returns which part of a result the model makes.
    Part part() const
    {
        return contract.as == As::alpha ? Part::alpha
               : contract.as == As::lab ? Part::chroma
                                        : Part::seen;
    }
    // Returns whether runs of this plan take and return a frame's own integer samples.
    bool passes_integers(const ModelPlan &run) const;

    // Returns a frame for the result of `source`, in the format that the session works in.  Throws
    // Error or std::bad_alloc.
    FramePointer frame_for(const AVFrame *source) const;

    // Throws Error if a result is to be mixed with its frame, which this plan cannot do.
    void check_strength(const FrameJob &job) const;

    // Tiles, pads and scales frames as `state` says.
    void use(std::shared_ptr<TilingState> state);

    // Fills picture `index` of `images` from `frame`.
    void read_frame(const AVFrame *frame, const Images &images, int index) const;

    // Returns the frame at that distance from the item's own, as the model gets it.
    Images planes_of(const FrameJob &job, FrameItem &item, int distance) const;
    bool has_window() const { return window != Window{}; }
    // Returns the place of the frame itself among the input's channels.
    int first_channel() const { return -contract.time.first * channels; }

    Contract contract;
    std::vector<ExtraPicture> extra;
    std::shared_ptr<PictureWarnings> warnings; // of the task, so that each is logged once
    WorkFormats formats;                       // of frames and results inside the session
    int channels;                              // of the frames
    int input_channels = 3;                    // of the model, including its extra inputs
    int output_channels = 3;                   // of the model
    FramePool frames;                          // for results
    // For frames converted for the session, and results converted for the link, if formats differ.
    std::optional<FramePool> converted_frames, converted_results;
    std::shared_ptr<TilingState> tiling;
    std::optional<FramePool> scaled_frames;    // if frames are scaled for the model
    std::optional<FramePool> unscaled_results; // if the model's results are scaled
    std::optional<FramePool> depths;           // for raw depth, whose range is not known yet
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
    std::vector<ExtraPad> extra_pads() const override;
    ResultShape output_for(const FrameShape &input) override;
    Reuse reuse() const override
    {
        return contract_.as == As::alpha ? Reuse::alpha : Reuse::picture;
    }
    NewPlan plan(const FrameShape &input, const PlanParameters &parameters) override;

private:
    FoundChannels find_channels();
    int channels_of(AVPixelFormat format) const;
    void check_contract(int channels) const; // throws Error
    void follow_model();
    // Includes the extra inputs.
    ChannelCounts counts_of(AVPixelFormat format) const;
    PictureFit fit(const FrameShape &input);
    void check_fit(const PictureFit &fit) const; // throws Error
    std::shared_ptr<const PictureTiling> tiling_for(TilingState &tiling,
                                                    const PlanParameters &parameters) const;

    ModelProbe probe_;
    PictureFitter fitter_;
    Contract contract_;
    size_t batch_size_;
    std::shared_ptr<PictureWarnings> warnings_; // null before the first plan
    FoundChannels found_{Channels::any, 0, ""};
};

} // namespace dnn_torch
