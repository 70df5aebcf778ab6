// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "late_frames.h"

#include "host/error.h"
#include "host/findings/shown_masks.h"
#include "host/frames/component_samples.h"
#include "host/frames/sample_aspect.h"
#include "host/tasks/picture_session.h"

extern "C" {
#include <libavutil/dict.h>
}

#include <string>

namespace dnn_torch
{
namespace
{

// The picture of the result, and all else of the frame.
FramePointer at_time_of(const AVFrame *frame, const AVFrame *result)
{
    FramePointer copy = new_reference(result);
    while (copy->nb_side_data != 0)
        av_frame_remove_side_data(copy.get(), copy->side_data[0]->type);
    av_dict_free(&copy->metadata);
    if (int ret = av_frame_copy_props(copy.get(), frame); ret < 0)
        throw Error(ret, "a frame's properties cannot be copied");
    copy->sample_aspect_ratio = result->sample_aspect_ratio;
    copy->colorspace = result->colorspace;
    copy->color_range = result->color_range;
    copy->chroma_location = result->chroma_location;
    return copy;
}

FramePointer with_alpha_of(const AVFrame *frame, const AVFrame *result)
{
    FramePointer copy = new_reference(frame);
    make_frame_writable(*copy);
    const int alpha = descriptor(frame).nb_components - 1;
    const int bytes = (descriptor(frame).comp[alpha].depth + 7) / 8;
    copy_samples(ComponentSamples(result, alpha), ComponentSamples(copy.get(), alpha),
                 component_size(frame, alpha), bytes == 3 ? 4 : bytes);
    return copy;
}

bool are_alike(const FrameShape &one, const FrameShape &other)
{
    return one.size == other.size && one.format == other.format &&
           one.result_format == other.result_format;
}

} // namespace

void LateFrames::follow(const TaskPlan &plan, Reuse reuse, bool keeps)
{
    if (!are_alike(plan.input, input_) || plan.output != output_ || reuse != reuse_) {
        result_.reset();
        latest_ = -1;
        pool_.reset();
        scaler_ = {};
        converter_ = {};
    }
    input_ = plan.input;
    output_ = plan.output;
    reuse_ = reuse;
    keeps_ = keeps;
}

void LateFrames::keep(const FrameItem &item)
{
    if (item.number <= latest_ || item.results.empty())
        return;
    latest_ = item.number;
    if (keeps_ && reuse_ != Reuse::findings)
        result_ = new_reference(item.results.back().get());
}

FramePointer LateFrames::passed(const AVFrame *frame)
{
    const AVPixelFormat format = format_of_results(input_);
    if (output_ == input_.size && format == input_.format)
        return new_reference(frame);
    if (!pool_)
        pool_.emplace(format, output_);
    FramePointer other = taken_from(*pool_, frame);
    other->sample_aspect_ratio =
        sample_aspect_after(frame->sample_aspect_ratio, input_.size, output_);
    if (format == input_.format)
        scaler_.scale_frame(frame, other.get());
    else
        converter_.convert(frame, other.get());
    return other;
}

FramePointer LateFrames::reused(const AVFrame *frame)
{
    if (reuse_ == Reuse::findings || !result_)
        return passed(frame);
    return reuse_ == Reuse::alpha ? with_alpha_of(frame, result_.get())
                                  : at_time_of(frame, result_.get());
}

void hide_frame(AVFrame &frame, Hiding hiding)
{
    make_frame_writable(frame);
    hide(0, 0, frame.width, frame.height, hiding, &frame);
    av_frame_remove_side_data(&frame, AV_FRAME_DATA_MOTION_VECTORS);
}

void mark_frame(AVFrame &frame, Fate fate, int64_t age)
{
    if (age >= 0)
        av_dict_set(&frame.metadata, "lavfi.dnn_torch.age", std::to_string(age).c_str(), 0);
    if (fate != Fate::ran)
        av_dict_set(&frame.metadata, "lavfi.dnn_torch.late", name_of(fate), 0);
}

} // namespace dnn_torch
