// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_job.h"

#include "host/error.h"
#include "host/frames/codes.h"
#include "host/frames/picture.h"
#include "host/frames/sample_aspect.h"
#include "host/inference/fork_gate.h"

#include <cstdio>
#include <new>

namespace dnn_torch
{
namespace
{

std::string describe(const AVFrame *frame, AVRational time_base)
{
    if (frame->pts == AV_NOPTS_VALUE)
        return "frame without a timestamp";
    char text[64];
    snprintf(text, sizeof(text), "frame at %.3f s",
             static_cast<double>(frame->pts) * av_q2d(time_base));
    return text;
}

} // namespace

void follow_tuning(FramePlan &plan, const DnnTorchTuning &tuning)
{
    plan.interleaved = tuning.interleaved != 0;
    plan.in_order = tuning.in_order != 0;
    plan.codes = tuning.takes_codes != 0 && can_pass_codes(plan.code_format());
}

FrameWorker::FrameWorker(std::shared_ptr<const FramePlan> plan)
    : plan_(std::move(plan)), session_(plan_->model, plan_->threads)
{
    // What remembers earlier runs must not have seen another picture.
    if (!plan_->in_order)
        session_.warm({static_cast<int32_t>(plan_->batch_size), plan_->channels,
                       plan_->input.height, plan_->input.width});
}

void FrameWorker::run(FrameJob &frames)
{
    std::string where = describe(frames.items.front().frame.get(), plan_->time_base);
    try {
        if (frames.items.front().bypass)
            bypass(frames);
        else
            run_model(frames);
    } catch (const Error &error) {
        throw Error(error.code(), where + ": " + error.what());
    } catch (const std::bad_alloc &) {
        throw Error(AVERROR(ENOMEM), where + ": out of memory; lower workers, nireq or batch_size");
    }
}

// A frame for the result of that one.  Pools of frames have locks of libavutil's.
FramePointer FrameWorker::frame_like(const AVFrame *input) const
{
    FramePointer frame = [&] {
        NoFork no_fork;
        return plan_->frames.take();
    }();
    if (int ret = av_frame_copy_props(frame.get(), input); ret < 0)
        throw Error(ret, "a frame's properties cannot be copied");
    frame->sample_aspect_ratio =
        sample_aspect_after(input->sample_aspect_ratio, plan_->input, plan_->output);
    return frame;
}

void FrameWorker::replace(FramePointer &frame, FramePointer by)
{
    NoFork no_fork;
    frame = std::move(by);
}

void FrameWorker::bypass(FrameJob &job)
{
    if (plan_->input == plan_->output)
        return;
    for (FrameJob::Item &item : job.items) {
        FramePointer scaled = frame_like(item.frame.get());
        scaler_.scale_frame(item.frame.get(), scaled.get());
        replace(item.frame, std::move(scaled));
    }
}

// The buffer has room for a whole batch from the first one on.
DnnTorchImages FrameWorker::input_for(const FrameJob &job)
{
    int batch = static_cast<int>(job.items.size());
    auto floats = plan_->interleaved ? float_pixels : float_planes;
    DnnTorchImages input = plan_->codes ? code_images(plan_->code_format(), batch, plan_->input)
                                        : floats(nullptr, batch, plan_->channels, plan_->input);
    if (!memory_)
        memory_ = memory_of(input.batch_stride * static_cast<int64_t>(plan_->batch_size));
    input.data = memory_;
    input.number = job.items.front().number;
    return input;
}

void *FrameWorker::memory_of(int64_t bytes)
{
    if (void *memory = session_.memory(bytes))
        return memory;
    own_memory_.resize(static_cast<size_t>(bytes) / sizeof(std::max_align_t) + 1);
    return own_memory_.data();
}

void FrameWorker::run_model(FrameJob &job)
{
    DnnTorchImages input = input_for(job);
    convert_in(job, input);
    DnnTorchImages output;
    {
        Stopwatch watch(job.stages.forward);
        output = session_.run(input);
    }
    check_size(output);
    job.saw_nan |= output.had_nan != 0;
    convert_out(job, output);
}

void FrameWorker::convert_in(FrameJob &job, const DnnTorchImages &input)
{
    Stopwatch watch(job.stages.convert_in);
    auto read = plan_->codes ? read_codes : read_picture;
    int index = 0;
    for (FrameJob::Item &item : job.items)
        read(item.frame.get(), input, index++);
}

void FrameWorker::convert_out(FrameJob &job, const DnnTorchImages &output)
{
    Stopwatch watch(job.stages.convert_out);
    int index = 0;
    for (FrameJob::Item &item : job.items)
        finish(item, output, index++, job.saw_nan);
}

void FrameWorker::check_size(const DnnTorchImages &output) const
{
    if (output.width == plan_->output.width && output.height == plan_->output.height &&
        output.channels == plan_->channels)
        return;
    throw Error(AVERROR_INVALIDDATA,
                "the model returned " + std::to_string(output.channels) + " channels of " +
                    to_text({output.width, output.height}) + ", not " +
                    std::to_string(plan_->channels) + " of " + to_text(plan_->output) +
                    " as before; its output size must depend on its input size alone");
}

void FrameWorker::finish(FrameJob::Item &item, const DnnTorchImages &output, int index,
                         bool &saw_nan)
{
    FramePointer result = frame_like(item.frame.get());
    if (output.element == DNN_TORCH_F32)
        saw_nan |= write_picture(output, index, item.frame.get(), result.get());
    else
        write_codes(output, index, result.get());
    scaler_.carry_unseen(item.frame.get(), result.get(), plan_->channels);
    replace(item.frame, std::move(result));
}

} // namespace dnn_torch
