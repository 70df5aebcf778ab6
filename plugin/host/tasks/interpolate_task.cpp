// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interpolate_task.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/frames/frame_duration.h"
#include "host/probing/interpolator.h"
#include "interpolate_session.h"
#include "sample_gathering.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/parseutils.h>
}

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr int most_per_second = 1000;
// The frames of a job that are references to others.
constexpr size_t most_references = 4096;
constexpr int largest_part = 1001000; // as libavutil's for rates

bool is_rate(AVRational rate)
{
    return rate.num > 0 && rate.den > 0;
}

[[noreturn]] void refuse(const char *option, const std::string &text, const char *takes)
{
    throw Error(AVERROR(EINVAL), concat(option, " takes ", takes, ", not '", text, "'"));
}

// Returns 0 if it is none.
AVRational factor_in(const std::string &text)
{
    AVRational factor = {0, 1};
    return av_parse_ratio(&factor, text.c_str(), largest_part, 0, nullptr) >= 0 && is_rate(factor)
               ? factor
               : AVRational{0, 1};
}

Contract for_pictures(Contract contract)
{
    contract.time.border = Border::repeat;
    return contract;
}

AVRational usable(AVRational rate, const std::string &text)
{
    if (av_q2d(rate) > most_per_second)
        throw Error(AVERROR(EINVAL), concat(text, " are more than ", most_per_second,
                                            " frames a second; ask for fewer"));
    return rate;
}

// Returns how many results of a long step are made at once: few for memory, and enough that handing
// them over costs nothing.
size_t portion_for(int64_t result_bytes)
{
    constexpr int64_t most = 16, most_bytes = int64_t{64} << 20;
    return static_cast<size_t>(
        std::clamp(most_bytes / std::max<int64_t>(result_bytes, 1), int64_t{1}, most));
}

// Moves what follows item `first` out of the job, and that item too if nothing of it is scheduled.
std::unique_ptr<FrameJob> rest_of(FrameJob &job, size_t first)
{
    auto rest = std::make_unique<FrameJob>();
    rest->plan = job.plan;
    rest->where = job.where;
    FrameItem &item = job.items[first];
    if (!item.schedule.moments.empty()) {
        rest->items.push_back(new_reference(item));
        FrameItem &more = rest->items.back();
        more.bypass = item.bypass;
        more.shared = item.shared;
        more.after = item.after;
        more.successor = item.successor;
        first++;
    }
    const auto begin = job.items.begin() + static_cast<ptrdiff_t>(first);
    std::move(begin, job.items.end(), std::back_inserter(rest->items));
    job.items.erase(begin, job.items.end());
    return rest;
}

int64_t duration_of(const FrameItem &item)
{
    const int64_t duration = item.frame ? frame_duration(*item.frame) : 0;
    return duration > 0 ? duration : 1;
}

} // namespace

WantedRate wanted_rate(const std::string &fps, const std::string &factor)
{
    constexpr std::string_view source = "source", times = "source*";
    if (!fps.empty() && !factor.empty())
        throw Error(AVERROR(EINVAL), "fps and factor contradict each other; give one of them");
    const std::string said = fps.empty() ? concat(times, factor.empty() ? "2" : factor) : fps;
    WantedRate wanted = {.text = factor.empty() ? concat("fps=", said) : concat("factor=", factor)};
    if (said.starts_with(times))
        wanted.factor = factor_in(said.substr(times.size()));
    else if (said == source)
        wanted.factor = {1, 1};
    else if (av_parse_video_rate(&wanted.rate, said.c_str()) < 0)
        wanted.factor = {0, 1};
    if (!is_rate(wanted.factor) && !factor.empty())
        refuse("factor", factor, "a number above 0, such as 2.5");
    if (!is_rate(wanted.factor))
        refuse("fps", fps, "frames a second above 0, such as 60, 30000/1001 or source*2");
    return wanted;
}

// No rounding: the whole video's first frame is exactly there.
std::optional<AVRational> anchor_in(const std::string &text)
{
    if (text.empty())
        return std::nullopt;
    AVRational anchor = {0, 1};
    const char *const end = text.data() + text.size();
    auto parsed = std::from_chars(text.data(), end, anchor.num);
    if (parsed.ec == std::errc() && parsed.ptr != end && *parsed.ptr == '/')
        parsed = std::from_chars(parsed.ptr + 1, end, anchor.den);
    if (parsed.ec != std::errc() || parsed.ptr != end || anchor.den <= 0)
        refuse("anchor", text, "seconds, such as 3 or 1001/24000");
    return anchor;
}

AVRational rate_for(const WantedRate &wanted, AVRational input)
{
    if (is_rate(wanted.rate))
        return usable(wanted.rate, wanted.text);
    if (!is_rate(input))
        throw Error(AVERROR(EINVAL),
                    concat("the input's frame rate is not known, and ", wanted.text,
                           " is a multiple of it; give fps=, such as "
                           "fps=60"));
    return usable(av_mul_q(input, wanted.factor), wanted.text);
}

std::unique_ptr<TaskSession> InterpolatePlan::open_session() const
{
    std::call_once(threads_are_set_, [this] { pictures->threads = threads; });
    return std::make_unique<InterpolateSession>(*this);
}

InterpolateTask::InterpolateTask(std::shared_ptr<Model> model, const Contract &contract,
                                 size_t batch_size, WantedRate wanted,
                                 std::shared_ptr<OutputClock> clock)
    : Task(model), pictures_(std::move(model), for_pictures(contract), batch_size),
      batch_size_(batch_size), takes_time_(dnn_torch::takes_time(contract)),
      takes_number_(!contract.time.between.empty()), wanted_(std::move(wanted)),
      clock_(std::move(clock))
{
}

TaskFindings InterpolateTask::examine()
{
    TaskFindings findings = pictures_.examine();
    findings.takes += takes_time_ ? ", and makes frames between two at any time"
                                  : ", and makes the frame in the middle between two";
    return findings;
}

ResultShape InterpolateTask::output_for(const FrameShape &input)
{
    const ResultShape made = pictures_.output_for(input);
    if (made.size != input.size)
        throw Error(AVERROR(EINVAL),
                    concat("the model makes ", to_text(made.size), " of ", to_text(input.size),
                           "; frames between others need "
                           "their size"));
    const AVRational rate = rate_for(wanted_, input.frame_rate);
    return {
        .format = made.format, .size = made.size, .time_base = av_inv_q(rate), .frame_rate = rate};
}

NewPlan InterpolateTask::plan(const FrameShape &input, const PlanParameters &parameters)
{
    NewPlan made = pictures_.plan(input, parameters);
    if (parameters.gathered)
        return made;
    if (made.plan->in_order)
        throw Error(AVERROR(EINVAL), "the model remembers earlier frames; such a one cannot make "
                                     "frames between others");
    auto plan = std::make_shared<InterpolatePlan>();
    plan->input = input;
    plan->output = made.plan->output;
    plan->rate = output_for(input).frame_rate;
    plan->bridges_duplicates = wanted_.bridges_duplicates;
    plan->window = {.before = 0, .after = 1};
    plan->takes_time = takes_time_;
    plan->takes_one_time = takes_number_;
    // Models that draw random numbers draw them for each run.
    plan->pictures_at_once = made.cost.alone ? 1 : made.plan->batch_size;
    const double seconds_between = is_rate(input.frame_rate) ? 1 / av_q2d(input.frame_rate) : 0.04;
    const auto for_each =
        static_cast<size_t>(std::max(1.0, std::ceil(av_q2d(plan->rate) * seconds_between - 1)));
    plan->batch_size = std::max<size_t>(1, batch_size_ / for_each);
    plan->frame_bytes = made.plan->frame_bytes;
    plan->most_results = std::max({plan->batch_size * for_each, plan->pictures_at_once,
                                   portion_for(plan->frame_bytes.result)});
    plan->frame_bytes.result *= static_cast<int64_t>(for_each);
    plan->pictures = std::exchange(made.plan, plan);
    return made;
}

// A long step is made in portions, so that its frames are never in memory all at once.
std::unique_ptr<FrameJob> InterpolateTask::schedule(FrameJob &job)
{
    const auto &plan = static_cast<const InterpolatePlan &>(*job.plan);
    if (!clock_->grid)
        clock_->grid.emplace(plan.input.time_base, plan.rate, wanted_.anchor);
    size_t room = plan.most_results;
    for (size_t i = 0; i < job.items.size(); i++) {
        FrameItem &item = job.items[i];
        const bool makes = plan.takes_time && !item.bypass && !item.after.empty();
        if (makes && room == 0)
            return rest_of(job, i);
        item.schedule =
            clock_->grid->next(item.frame->pts, successor_of(item), makes ? room : most_references);
        room -= makes ? item.schedule.moments.size() : 0;
        if (!item.schedule.is_whole)
            return rest_of(job, i);
    }
    return nullptr;
}

Successor InterpolateTask::successor_of(const FrameItem &item) const
{
    Successor successor = item.successor;
    if (successor.kind == Successor::Kind::end && successor.pts == AV_NOPTS_VALUE)
        successor.pts = clock_->grid->place_of(item.frame->pts == AV_NOPTS_VALUE
                                                   ? item.frame->pts
                                                   : item.frame->pts + duration_of(item));
    return successor;
}

void InterpolateTask::complete(FrameItem &item)
{
    const std::vector<Moment> &moments = item.schedule.moments;
    if (item.results.size() != moments.size())
        throw Error(AVERROR_BUG, "a pair of frames has another number of results than it should");
    for (size_t i = 0; i < moments.size(); i++) {
        item.results[i]->pts = moments[i].pts;
        set_frame_duration(*item.results[i], 1);
        // Or captions would be shown twice.
        if (i > 0 || item.schedule.continues)
            av_frame_remove_side_data(item.results[i].get(), AV_FRAME_DATA_A53_CC);
    }
    item.results = clock_->held.pass(item.schedule, std::move(item.results));
}

} // namespace dnn_torch
