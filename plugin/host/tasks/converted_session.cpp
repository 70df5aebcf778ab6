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
        FramePointer taken;
        if (plan_.taken_frames) {
            taken = taken_from(*plan_.taken_frames, item.frame.get());
            carry_colour_properties(item.frame.get(), taken.get());
            in_.convert(item.frame.get(), taken.get());
        } else {
            NoFork no_fork;
            taken = new_reference(item.frame.get());
        }
        sources_.push_back(std::exchange(item.frame, std::move(taken)));
    }
}

void ConvertedSession::convert_out(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_out);
    if (!plan_.given_frames)
        return;
    auto source = sources_.begin();
    for (FrameItem &item : job.items) {
        for (FramePointer &result : item.results) {
            FramePointer given = taken_from(*plan_.given_frames, result.get());
            carry_colour_properties(source->get(), given.get());
            const bool is_alike = (*source)->format == given->format &&
                                  (*source)->width == given->width &&
                                  (*source)->height == given->height;
            out_.convert(result.get(), given.get(), is_alike ? source->get() : nullptr);
            result.swap(given);
            NoFork no_fork;
            given.reset();
        }
        ++source;
    }
}

// If it fails, the frames are what they were: they may be tried again, or go by the model.
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
