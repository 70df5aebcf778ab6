// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_session.h"

#include "host/error.h"
#include "host/frames/codes.h"
#include "host/frames/picture.h"
#include "host/frames/sample_aspect.h"
#include "host/inference/fork_gate.h"
#include "picture_tensors.h"

namespace dnn_torch
{
namespace
{

// Frames and their pools use locks of libavutil.
void become(FrameItem &item, FramePointer result)
{
    NoFork no_fork;
    item.frame.reset();
    item.results.push_back(std::move(result));
}

} // namespace

std::unique_ptr<TaskSession> PicturePlan::open_session() const
{
    return std::make_unique<PictureSession>(*this);
}

PictureSession::PictureSession(const PicturePlan &plan)
    : plan_(plan), session_(plan_.model, plan_.threads)
{
    // A model that remembers earlier runs must see no other picture before the first frame.
    if (!plan_.in_order)
        session_.warm();
}

// Returns a frame for the result of `input`.
FramePointer PictureSession::frame_like(const AVFrame *input) const
{
    FramePointer frame = [&] {
        NoFork no_fork;
        return plan_.frames.take();
    }();
    if (int ret = av_frame_copy_props(frame.get(), input); ret < 0)
        throw Error(ret, "a frame's properties cannot be copied");
    frame->sample_aspect_ratio =
        sample_aspect_after(input->sample_aspect_ratio, plan_.input.size, plan_.output);
    return frame;
}

void PictureSession::bypass(FrameJob &job)
{
    for (FrameItem &item : job.items) {
        if (plan_.input.size == plan_.output) {
            item.results.push_back(std::move(item.frame));
            continue;
        }
        FramePointer scaled = frame_like(item.frame.get());
        scaler_.scale_frame(item.frame.get(), scaled.get());
        become(item, std::move(scaled));
    }
}

// From the first batch on, the buffer has room for a whole one.
Images PictureSession::input_for(const FrameJob &job)
{
    int batch = static_cast<int>(job.items.size());
    auto floats = plan_.interleaved ? float_pixels : float_planes;
    Images input = plan_.codes ? code_images(plan_.code_format(), batch, plan_.input.size)
                               : floats(nullptr, batch, plan_.channels, plan_.input.size);
    if (!memory_)
        memory_ = memory_of(input.batch_stride * static_cast<int64_t>(plan_.batch_size));
    input.data = memory_;
    input.number = job.items.front().number;
    return input;
}

void *PictureSession::memory_of(int64_t bytes)
{
    if (void *memory = session_.memory(static_cast<size_t>(bytes)))
        return memory;
    own_memory_.resize(static_cast<size_t>(bytes) / sizeof(std::max_align_t) + 1);
    return own_memory_.data();
}

void PictureSession::run(FrameJob &job)
{
    Images input = input_for(job);
    convert_in(job, input);
    Images output;
    {
        Stopwatch watch(job.stages.forward);
        output = run_pictures(session_, input);
    }
    job.retries = session_.retries();
    job.crash = session_.crash();
    check_size(output);
    job.saw_nan |= output.had_nan != 0;
    convert_out(job, output);
}

void PictureSession::convert_in(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.convert_in);
    int index = 0;
    for (FrameItem &item : job.items)
        if (plan_.codes)
            read_codes(item.frame.get(), input, index++);
        else
            read_picture(item.frame.get(), plan_.contract.input, input, index++);
}

void PictureSession::convert_out(FrameJob &job, const Images &output)
{
    Stopwatch watch(job.stages.convert_out);
    int index = 0;
    for (FrameItem &item : job.items)
        finish(item, output, index++, job.saw_nan);
}

void PictureSession::check_size(const Images &output) const
{
    if (output.width == plan_.output.width && output.height == plan_.output.height &&
        output.channels == plan_.channels)
        return;
    throw Error(AVERROR_INVALIDDATA,
                "the model returned " + std::to_string(output.channels) + " channels of " +
                    to_text({output.width, output.height}) + ", not " +
                    std::to_string(plan_.channels) + " of " + to_text(plan_.output) +
                    " as before; its output size must depend on its input size alone");
}

void PictureSession::finish(FrameItem &item, const Images &output, int index, bool &saw_nan)
{
    FramePointer result = frame_like(item.frame.get());
    if (output.element == Element::f32)
        saw_nan |=
            write_picture(output, plan_.contract.output, index, item.frame.get(), result.get());
    else
        write_codes(output, index, result.get());
    scaler_.carry_unseen(item.frame.get(), result.get(), plan_.channels);
    become(item, std::move(result));
}

} // namespace dnn_torch
