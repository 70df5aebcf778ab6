// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interpolate_session.h"

#include "host/frames/alpha_blend.h"
#include "host/workers/fork_gate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dnn_torch
{
namespace
{

// Of a model that makes the middle alone: places are counted in 64ths.  Any time goes to the
// nearest eighth, unless it is a place exactly.
constexpr int finest = 64, usual = 8;

FramePointer reference_to(const AVFrame *frame)
{
    NoFork no_fork;
    return new_reference(frame);
}

// Returns the place of the frame that stands for time t.
int place_for(double t)
{
    const double exact = t * finest;
    if (exact == std::floor(exact))
        return static_cast<int>(exact);
    return static_cast<int>(std::lround(t * usual)) * (finest / usual);
}

// Adds what the inner job has found out.
void add_findings(FrameJob &inner, FrameJob &job)
{
    job.stages.add(inner.stages);
    job.operations += inner.operations;
    job.saw_nan |= inner.saw_nan;
    job.retries += inner.retries;
    if (job.crash.empty())
        job.crash = inner.crash;
    for (std::string &note : inner.notes)
        job.notes.push_back(std::move(note));
}

} // namespace

InterpolateSession::InterpolateSession(const InterpolatePlan &plan)
    : plan_(plan), pictures_(plan.pictures->open_session())
{
}

void InterpolateSession::bypass(FrameJob &job)
{
    for (FrameItem &item : job.items) {
        item.results.clear();
        for (size_t i = 0; i < item.schedule.moments.size(); i++)
            item.results.push_back(reference_to(item.frame.get()));
    }
}

void InterpolateSession::run(FrameJob &job)
{
    std::vector<Interpolation> wanted;
    for (FrameItem &item : job.items)
        if (plan_.takes_time)
            add_interpolations(item, wanted);
        else
            halve(job, item);
    make(job, wanted);
}

void InterpolateSession::add_interpolations(FrameItem &item, std::vector<Interpolation> &wanted)
{
    const std::vector<Moment> &moments = item.schedule.moments;
    item.results.clear();
    item.results.resize(moments.size());
    for (size_t i = 0; i < moments.size(); i++)
        if (moments[i].t == 0 || item.after.empty())
            item.results[i] = reference_to(item.frame.get());
        else
            wanted.push_back({.item = &item,
                              .first = item.shared,
                              .second = item.after.front(),
                              .t = moments[i].t,
                              .result = &item.results[i]});
}

// Returns those at the beginning that one run can make.
std::span<const InterpolateSession::Interpolation>
InterpolateSession::first_run(std::span<const Interpolation> wanted) const
{
    size_t count = 1;
    while (count < std::min(wanted.size(), plan_.pictures_at_once) &&
           (!plan_.takes_one_time || wanted[count].t == wanted.front().t))
        count++;
    return wanted.first(count);
}

void InterpolateSession::make(FrameJob &job, std::span<const Interpolation> wanted)
{
    while (!wanted.empty()) {
        const std::span<const Interpolation> now = first_run(wanted);
        run_once(job, now);
        wanted = wanted.subspan(now.size());
    }
}

void InterpolateSession::run_once(FrameJob &job, std::span<const Interpolation> wanted)
{
    FrameJob inner;
    inner.plan = plan_.pictures;
    inner.where = job.where;
    for (const Interpolation &each : wanted)
        inner.items.push_back({.frame = reference_to(each.first->frame()),
                               .bypass = false,
                               .arrival = each.item->arrival,
                               .number = each.item->number,
                               .seed = each.item->seed,
                               .shared = each.first,
                               .after = {each.second},
                               .between = each.t});
    pictures_->run(inner);
    add_findings(inner, job);
    for (size_t i = 0; i < wanted.size(); i++) {
        FramePointer &result = inner.items[i].results.front();
        blend_alpha(wanted[i].first->frame(), wanted[i].second->frame(), wanted[i].t, *result);
        *wanted[i].result = std::move(result);
    }
    NoFork no_fork;
    inner.items.clear();
}

void InterpolateSession::halve(FrameJob &job, FrameItem &item)
{
    item.results.clear();
    Made made;
    bool is_exact = true;
    if (!item.after.empty())
        made = {{0, item.shared}, {finest, item.after.front()}};
    for (const Moment &moment : item.schedule.moments) {
        if (moment.t == 0 || item.after.empty()) {
            item.results.push_back(reference_to(item.frame.get()));
            continue;
        }
        const int place = place_for(moment.t);
        is_exact = is_exact && place == moment.t * finest;
        item.results.push_back(reference_to(made_at(job, item, place, made)->frame()));
    }
    if (!is_exact)
        job.notes.emplace_back("the model makes the middle between two frames alone: frames at "
                               "other times than halves, quarters and so on are those of the "
                               "nearest eighth");
}

// A frame at a quarter is in the middle between the first one and the one at a half.
std::shared_ptr<SharedFrame> InterpolateSession::made_at(FrameJob &job, FrameItem &item, int place,
                                                         Made &made)
{
    if (const auto found = made.find(place); found != made.end())
        return found->second;
    const int step = place & -place; // the largest power of two that divides it
    const std::shared_ptr<SharedFrame> first = made_at(job, item, place - step, made),
                                       second = made_at(job, item, place + step, made);
    FramePointer result;
    const Interpolation one = {
        .item = &item, .first = first, .second = second, .t = 0.5, .result = &result};
    run_once(job, {&one, 1});
    return made[place] = std::make_shared<SharedFrame>(std::move(result));
}

} // namespace dnn_torch
