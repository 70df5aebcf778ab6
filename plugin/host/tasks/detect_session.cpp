// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detect_session.h"

#include "frame_numbers.h"
#include "host/detection/suppression.h"
#include "host/detection/tensor_view.h"
#include "host/findings/findings.h"
#include "host/model/label_lists.h"
#include "host/model/picture_tensors.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dnn_torch
{
namespace
{

Box in_frame(const Placement &placement, const Box &box)
{
    return {.left = placement.x_in_frame(box.left),
            .top = placement.y_in_frame(box.top),
            .right = placement.x_in_frame(box.right),
            .bottom = placement.y_in_frame(box.bottom)};
}

// A turned box stays a rectangle, even if the frame was stretched.
TurnedBox in_frame(const Placement &placement, const TurnedBox &box)
{
    const float across = 1 / placement.scale_x(), down = 1 / placement.scale_y();
    const float cosine = std::cos(box.angle), sine = std::sin(box.angle);
    return {.middle_x = placement.x_in_frame(box.middle_x),
            .middle_y = placement.y_in_frame(box.middle_y),
            .width = box.width * std::hypot(cosine * across, sine * down),
            .height = box.height * std::hypot(sine * across, cosine * down),
            .angle = std::atan2(sine * down, cosine * across)};
}

Box clipped(const Box &box, Size frame)
{
    const auto width = static_cast<float>(frame.width), height = static_cast<float>(frame.height);
    return {.left = std::clamp(box.left, 0.0F, width),
            .top = std::clamp(box.top, 0.0F, height),
            .right = std::clamp(box.right, 0.0F, width),
            .bottom = std::clamp(box.bottom, 0.0F, height)};
}

} // namespace

bool bring_into_frame(const Placement &placement, Size frame, Detection &detection)
{
    constexpr float thinnest = 0.5F;
    detection.box = clipped(in_frame(placement, detection.box), frame);
    if (detection.mask)
        detection.mask.area = in_frame(placement, detection.mask.area);
    if (detection.turned)
        detection.turned = in_frame(placement, *detection.turned);
    for (KeyPoint &point : detection.key_points) {
        point.x = placement.x_in_frame(point.x);
        point.y = placement.y_in_frame(point.y);
    }
    return detection.box.width() >= thinnest && detection.box.height() >= thinnest;
}

DetectSession::DetectSession(const DetectPlan &plan)
    : plan_(plan), session_(plan_.model, plan_.threads), feeder_(plan_.numbers, plan_.border)
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!plan_.in_order)
        session_.warm();
}

void DetectSession::bypass(FrameJob &job)
{
    for (FrameItem &item : job.items)
        item.results.push_back(std::move(item.frame));
}

void DetectSession::run(FrameJob &job)
{
    const Images input = input_for(job);
    feed(job, input);
    const std::span<const DnnTorchTensor> tensors = run_model(job, input);
    find(job, tensors);
}

// The buffer is sized for a full batch, even if the first batch is smaller.
Images DetectSession::input_for(const FrameJob &job)
{
    const auto floats = plan_.interleaved ? float_pixels : float_planes;
    Images input =
        floats(nullptr, static_cast<int>(job.items.size()), plan_.channels, plan_.picture);
    input.data = memory_.of(session_, static_cast<size_t>(input.batch_stride) * plan_.batch_size);
    input.number = job.items.front().seed;
    input.predecessor_distance = job.predecessor_distance;
    return input;
}

void DetectSession::feed(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.convert_in);
    int index = 0;
    for (const FrameItem &item : job.items)
        feeder_.feed(item.frame.get(), plan_.placement, input, index++);
}

std::span<const DnnTorchTensor> DetectSession::run_model(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.forward);
    DnnTorchRun facts = {.size = sizeof(facts), .number = 0, .had_nan = 0};
    tensors_ = run_tensors(session_, input, facts, numbers_for(job, plan_));
    job.add_run(session_);
    job.saw_nan |= facts.had_nan != 0;
    return tensors_;
}

void DetectSession::find(FrameJob &job, std::span<const DnnTorchTensor> tensors)
{
    Stopwatch watch(job.stages.convert_out);
    int index = 0;
    for (FrameItem &item : job.items) {
        follow(item.number);
        item.found = findings_in(tensors, index++);
        item.results.push_back(std::move(item.frame));
    }
}

void DetectSession::follow(int64_t frame)
{
    std::shared_ptr<const DetectParameters> parameters = plan_.parameters->at(frame);
    if (current_ && current_->parameters == parameters)
        return;
    WantedClasses wanted(parameters->classes, plan_.names);
    current_ = {.parameters = std::move(parameters), .wanted = std::move(wanted)};
}

// Before suppression, which drops boxes that may reach further than those it keeps.
void DetectSession::hide(std::span<const DnnTorchTensor> tensors, Findings &findings) const
{
    // Of very many boxes, the decoder keeps the most confident ones.
    findings.in_doubt = has_no_number(tensors) || found_.size() >= most_candidates;
    for (Detection each : found_)
        if (plan_.hidden->has(each.label) &&
            bring_into_frame(plan_.placement, plan_.input.size, each))
            findings.hidden.push_back(each.box);
}

std::shared_ptr<Findings> DetectSession::findings_in(std::span<const DnnTorchTensor> tensors,
                                                     int index)
{
    const DetectParameters &parameters = *current_->parameters;
    auto findings = std::make_shared<Findings>();
    found_.clear();
    plan_.decoder->decode(tensors, index, {.confidence = parameters.confidence}, found_);
    if (plan_.hidden)
        hide(tensors, *findings);
    std::erase_if(found_, [&](const Detection &each) { return !current_->wanted.has(each.label); });
    SuppressionParameters suppression = parameters.suppression;
    if (!plan_.decoder->needs_suppression())
        suppression.iou = 1;
    suppress(found_, suppression);
    plan_.decoder->add_key_points(tensors, index, found_);
    if (plan_.with_masks)
        plan_.decoder->add_masks(tensors, index, found_);
    for (Detection &each : found_)
        if (bring_into_frame(plan_.placement, plan_.input.size, each)) {
            std::string label = label_of(plan_.names.labels, each.label);
            findings->things.push_back({.detection = std::move(each), .label = std::move(label)});
        }
    return findings;
}

} // namespace dnn_torch
