// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "converted_session.h"

#include "host/workers/fork_gate.h"
#include "picture_session.h"

#include <utility>

namespace dnn_torch
{

ConvertedSession::ConvertedSession(const PicturePlan &plan, std::unique_ptr<TaskSession> session)
    : plan_(plan), session_(std::move(session)),
      in_(plan.formats.are_lab ? Recoding::to_lab : Recoding::plain),
      out_(plan.formats.are_lab ? Recoding::from_lab : Recoding::plain)
{
}

void ConvertedSession::convert_in(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_in);
    for (FrameItem &item : job.items) {
        FramePointer frame;
        if (plan_.converted_frames && !item.shared) {
            frame = converted(item.frame.get());
        } else {
            const AVFrame *own = item.frame.get();
            if (plan_.converted_frames)
                own = share_converted(job, *item.shared);
            NoFork no_fork;
            frame = new_reference(own);
        }
        sources_.push_back(std::exchange(item.frame, std::move(frame)));
        for (const auto *neighbours : {&item.before, &item.after})
            for (const std::shared_ptr<SharedFrame> &each : *neighbours)
                if (plan_.converted_frames)
                    share_converted(job, *each);
    }
}

FramePointer ConvertedSession::converted(const AVFrame *frame)
{
    FramePointer other = taken_from(*plan_.converted_frames, frame);
    carry_colour_properties(frame, other.get());
    in_.convert(frame, other.get());
    return other;
}

const AVFrame *ConvertedSession::share_converted(const FrameJob &job, SharedFrame &frame)
{
    return frame.converted(job.plan, [this](const AVFrame *own) { return converted(own); });
}

void ConvertedSession::convert_out(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_out);
    if (!plan_.converted_results)
        return;
    auto source = sources_.begin();
    for (FrameItem &item : job.items) {
        for (FramePointer &result : item.results) {
            FramePointer converted = taken_from(*plan_.converted_results, result.get());
            carry_colour_properties(source->get(), converted.get());
            const bool is_alike = (*source)->format == converted->format &&
                                  (*source)->width == converted->width &&
                                  (*source)->height == converted->height;
            out_.convert(result.get(), converted.get(), is_alike ? source->get() : nullptr);
            result.swap(converted);
            NoFork no_fork;
            converted.reset();
        }
        ++source;
    }
}

// Restores the frames if the run fails, so that it can be retried, or bypass the model.
template <class Run> void ConvertedSession::run_converted(FrameJob &job, const Run &run)
{
    const auto forget = [&] {
        NoFork no_fork;
        sources_.clear();
    };
    try {
        convert_in(job);
        run();
    } catch (...) {
        for (size_t i = 0; i < sources_.size(); i++)
            job.items[i].frame.swap(sources_[i]);
        forget();
        throw;
    }
    convert_out(job);
    forget();
}

void ConvertedSession::run(FrameJob &job)
{
    run_converted(job, [&] { session_->run(job); });
}

void ConvertedSession::bypass(FrameJob &job)
{
    if (plan_.input.format != format_of_results(plan_.input) || plan_.input.size != plan_.output)
        return run_converted(job, [&] { session_->bypass(job); });
    for (FrameItem &item : job.items)
        item.results.push_back(std::move(item.frame));
}

} // namespace dnn_torch
