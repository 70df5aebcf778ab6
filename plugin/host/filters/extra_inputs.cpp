// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "extra_inputs.h"

#include "base/compose.h"
#include "host/error.h"

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/error.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>
}

#include <new>
#include <utility>

namespace dnn_torch
{
namespace
{

[[noreturn]] void refuse_size(const char *name, Size other, Size first)
{
    throw Error(AVERROR(EINVAL), concat("the frames are ", to_text(first), ", and those of '", name,
                                        "' are ", to_text(other), "; put scale=", first.width, ":",
                                        first.height, " (or scale2ref) before that input"));
}

} // namespace

bool SecondStream::is_ready_for(int64_t pts, AVRational time_base)
{
    if (next_ && is_due(pts, time_base)) {
        took_untimed_ = next_->pts == AV_NOPTS_VALUE;
        current_ = std::exchange(next_, nullptr);
    }
    const bool is_ready = next_ || has_ended_ || (current_ && pts == AV_NOPTS_VALUE);
    if (is_ready)
        took_untimed_ = false;
    return is_ready;
}

bool SecondStream::is_due(int64_t pts, AVRational time_base) const
{
    if (!current_)
        return true;
    if (next_->pts == AV_NOPTS_VALUE)
        return !took_untimed_;
    return pts != AV_NOPTS_VALUE && av_compare_ts(next_->pts, time_base_, pts, time_base) <= 0;
}

const char *ExtraInputs::name(size_t index) const
{
    return avfilter_pad_get_name(ctx_->input_pads, static_cast<int>(index) + 1);
}

void ExtraInputs::open(size_t count)
{
    frame_.reset(av_frame_alloc());
    if (!frame_)
        throw std::bad_alloc();
    for (size_t i = 0; i < count; i++)
        if (int ret = inputs_.emplace_back().gate.open(); ret < 0)
            throw Error(ret, "no private graph can be made");
}

void ExtraInputs::configure()
{
    const Size first = {ctx_->inputs[0]->w, ctx_->inputs[0]->h};
    for (size_t i = 0; i < inputs_.size(); i++) {
        const Size size = {link(i)->w, link(i)->h};
        if (size != first)
            refuse_size(name(i), size, first);
        inputs_[i].format = static_cast<AVPixelFormat>(link(i)->format);
        inputs_[i].stream = SecondStream(link(i)->time_base);
    }
}

std::vector<AVPixelFormat> ExtraInputs::formats() const
{
    std::vector<AVPixelFormat> formats;
    for (const Input &input : inputs_)
        formats.push_back(input.format);
    return formats;
}

// Returns whether the input has the frame that belongs to that one.
bool ExtraInputs::find_frame(size_t index, const AVFrame *frame, AVRational time_base, bool asks)
{
    Input &input = inputs_[index];
    while (!input.stream.is_ready_for(frame->pts, time_base)) {
        const int ret = asks ? input.gate.receive_or_request(link(index), frame_.get())
                             : input.gate.receive(link(index), frame_.get());
        if (ret == AVERROR(EAGAIN))
            return false;
        if (ret == AVERROR_EOF) {
            input.stream.end();
            continue;
        }
        if (ret < 0)
            throw Error(ret, concat("the input '", name(index), "' ended with an error"));
        FramePointer own(av_frame_alloc());
        if (!own)
            throw std::bad_alloc();
        av_frame_move_ref(own.get(), frame_.get());
        input.stream.add(std::move(own));
    }
    return true;
}

FramePointer ExtraInputs::shared(size_t index, const AVFrame *frame) const
{
    const Input &input = inputs_[index];
    const AVFrame *const current = input.stream.current();
    if (!current)
        throw Error(AVERROR_INVALIDDATA, concat("the input '", name(index),
                                                "' ended without a frame; the model needs one "
                                                "with each frame"));
    const Size size = {current->width, current->height}, first = {frame->width, frame->height};
    if (size != first)
        refuse_size(name(index), size, first);
    if (current->format != input.format)
        throw Error(AVERROR(EINVAL),
                    concat("the frames of '", name(index), "' changed their format; put format=",
                           av_get_pix_fmt_name(input.format), " before that input"));
    return new_reference(current);
}

bool ExtraInputs::complete(FrameItem &item, AVRational time_base, bool asks)
{
    const AVFrame *const frame = item.frame.get();
    for (size_t i = 0; i < inputs_.size(); i++)
        if (!find_frame(i, frame, time_base, asks))
            return false;
    for (size_t i = 0; i < inputs_.size(); i++)
        item.extra.push_back(shared(i, frame));
    return true;
}

void ExtraInputs::close()
{
    for (size_t i = 0; i < inputs_.size(); i++)
        inputs_[i].gate.forward_close(link(i), ctx_->outputs[0]);
}

} // namespace dnn_torch
