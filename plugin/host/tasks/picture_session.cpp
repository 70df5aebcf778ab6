// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_session.h"

#include "base/compose.h"
#include "converted_session.h"
#include "frame_numbers.h"
#include "host/error.h"
#include "host/frames/depth.h"
#include "host/frames/integer_samples.h"
#include "host/frames/lab.h"
#include "host/frames/picture.h"
#include "host/frames/sample_aspect.h"
#include "host/model/picture_tensors.h"
#include "host/workers/fork_gate.h"
#include "tiled_session.h"

namespace dnn_torch
{

// Frames and frame pools use locks of libavutil, hence NoFork.
void set_result(FrameItem &item, FramePointer result)
{
    NoFork no_fork;
    item.frame.reset();
    item.extra.clear();
    item.results.push_back(std::move(result));
}

FramePointer taken_from(const FramePool &pool, const AVFrame *like)
{
    FramePointer frame = [&] {
        NoFork no_fork;
        return pool.take();
    }();
    if (int ret = av_frame_copy_props(frame.get(), like); ret < 0)
        throw Error(ret, "a frame's properties cannot be copied");
    if (frame->format != like->format)
        set_colour_properties(frame.get());
    return frame;
}

std::unique_ptr<TaskSession> PicturePlan::open_session() const
{
    std::unique_ptr<TaskSession> session;
    if (tiling)
        session = std::make_unique<AdaptiveSession>(*this);
    else
        session = std::make_unique<PictureSession>(*this);
    if (!converted_frames && !converted_results)
        return session;
    return std::make_unique<ConvertedSession>(*this, std::move(session));
}

PictureSession::PictureSession(const PicturePlan &plan)
    : plan_(plan), session_(plan_.model, plan_.threads)
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!plan_.in_order)
        session_.warm();
}

FramePointer PicturePlan::frame_for(const AVFrame *source) const
{
    FramePointer frame = taken_from(frames, source);
    frame->sample_aspect_ratio =
        sample_aspect_after(source->sample_aspect_ratio, input.size, output);
    return frame;
}

// Checks each job, because mixing may become impossible when the size changes in mid-stream.
void PicturePlan::check_strength(const FrameJob &job) const
{
    for (const FrameItem &item : job.items)
        if (!mixes && item.strength != 1)
            throw Error(AVERROR(EINVAL), cannot_mix);
}

void PassBy::pass(const PicturePlan &plan, FrameJob &job)
{
    for (FrameItem &item : job.items) {
        if (plan.input.size == plan.output && plan.keeps_format()) {
            item.results.push_back(std::move(item.frame));
            continue;
        }
        FramePointer other = plan.frame_for(item.frame.get());
        if (plan.keeps_format())
            scaler_.scale_frame(item.frame.get(), other.get());
        else
            converter_.convert(item.frame.get(), other.get());
        set_result(item, std::move(other));
    }
}

void PictureSession::bypass(FrameJob &job)
{
    pass_by_.pass(plan_, job);
}

// The buffer is sized for a full batch, even if the first batch is smaller.
Images PictureSession::input_for(const FrameJob &job)
{
    int batch = static_cast<int>(job.items.size());
    auto floats = plan_.interleaved ? float_pixels : float_planes;
    Images input = plan_.integers ? integer_images(plan_.formats.taken, batch, plan_.input.size)
                                  : floats(nullptr, batch, plan_.input_channels, plan_.input.size);
    input.data = memory_.of(session_, static_cast<size_t>(input.batch_stride) * plan_.batch_size);
    input.number = job.items.front().seed;
    input.predecessor_distance = job.predecessor_distance;
    return input;
}

void PictureSession::run(FrameJob &job)
{
    plan_.check_strength(job);
    Images input = input_for(job);
    convert_in(job, input);
    Images output;
    {
        Stopwatch watch(job.stages.forward);
        output = run_pictures(session_, input, numbers_for(job, plan_));
    }
    job.add_run(session_);
    check_size(output);
    job.saw_nan |= output.had_nan != 0;
    plan_.warnings->look_at(job, input, output);
    convert_out(job, output);
}

void PictureSession::convert_in(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.convert_in);
    int index = 0;
    for (FrameItem &item : job.items)
        if (plan_.integers)
            read_integers(item.frame.get(), input, index++);
        else
            plan_.read(job, item, input, index++);
}

void PictureSession::convert_out(FrameJob &job, const Images &output)
{
    Stopwatch watch(job.stages.convert_out);
    int index = -1;
    for (FrameItem &item : job.items) {
        index++;
        if (!item.seen_only)
            finish(item, output, index, job.saw_nan);
    }
}

void PictureSession::check_size(const Images &output) const
{
    if (output.width == plan_.output.width && output.height == plan_.output.height &&
        output.channels == plan_.output_channels)
        return;
    throw Error(AVERROR_INVALIDDATA,
                "the model returned " + counted(output.channels, "channel") + " of " +
                    to_text({output.width, output.height}) + ", not " +
                    std::to_string(plan_.output_channels) + " of " + to_text(plan_.output) +
                    " as before; its output size must depend on its input size alone");
}

void PictureSession::finish(FrameItem &item, const Images &output, int index, bool &saw_nan)
{
    FramePointer result = plan_.frame_for(item.frame.get());
    saw_nan |= write(item, output, index, result.get());
    set_result(item, std::move(result));
}

// Returns whether there was a NaN.
bool PictureSession::write(const FrameItem &item, const Images &output, int index, AVFrame *result)
{
    const AVFrame *const frame = item.frame.get();
    if (plan_.contract.as == As::depth && !plan_.contract.depth)
        return write_measured_depth(output, index, result);
    if (plan_.contract.as == As::depth)
        return write_depth(output, index, plan_.contract.depth, result);
    if (plan_.part() != Part::seen) {
        copy_all_but(plan_.part(), frame, result);
        const bool saw_nan = write_part(item, output, index, result, plan_.part());
        if (saw_nan && plan_.formats.are_lab)
            make_grey_of_zeros(result);
        return saw_nan;
    }
    const bool saw_nan = write_part(item, output, index, result, Part::seen);
    if (plan_.keeps_format())
        scaler_.carry_unseen(frame, result, plan_.output_channels);
    return saw_nan;
}

// Its extremes are found before its samples are scaled by them, and another process may share the
// memory: it is copied, so that both are of the same samples.
bool PictureSession::write_measured_depth(const Images &output, int index, AVFrame *result)
{
    depth_.resize(static_cast<size_t>(output.width) * static_cast<size_t>(output.height));
    const Images depth = float_planes(depth_.data(), 1, 1, {output.width, output.height});
    copy_floats(output, index, depth);
    return write_depth(depth, 0, std::nullopt, result);
}

bool PictureSession::write_part(const FrameItem &item, const Images &output, int index,
                                AVFrame *result, Part part)
{
    const AVFrame *const frame = item.frame.get();
    const PictureNumbers &numbers = plan_.contract.output;
    if (output.element != Element::f32) {
        write_integers(output, index, result);
        if (item.strength != 1)
            mixer_.blend(output.channels, item.strength, frame, result);
        return false;
    }
    if (item.strength != 1)
        return mixer_.write(output, numbers, index, item.strength, frame, result, part);
    const AVFrame *const source = plan_.keeps_format() ? frame : nullptr;
    return write_picture(output, numbers, index, source, result, part);
}

} // namespace dnn_torch
