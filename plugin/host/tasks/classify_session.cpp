// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classify_session.h"

#include "host/findings/metadata.h"
#include "host/findings/side_data.h"
#include "host/model/label_lists.h"
#include "host/model/picture_tensors.h"

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr float border_of_letterbox = 0;

bool has_boxes(const AVFrame &frame)
{
    return av_frame_get_side_data(&frame, AV_FRAME_DATA_DETECTION_BBOXES) != nullptr;
}

} // namespace

bool ClassifyPlan::is_about_boxes(const FrameItem &item) const
{
    if (settings.what != ClassifyWhat::automatic)
        return settings.what == ClassifyWhat::boxes;
    return !parameters->at(item.number)->targets.empty() || has_boxes(*item.frame);
}

ClassifySession::ClassifySession(const ClassifyPlan &plan)
    : plan_(plan), session_(plan_.model, plan_.threads), feeder_(plan_.numbers, border_of_letterbox)
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!plan_.in_order)
        session_.warm();
}

void ClassifySession::bypass(FrameJob &job)
{
    for (FrameItem &item : job.items)
        item.results.push_back(std::move(item.frame));
}

// Moves frames to the results only after all runs, so that a job whose run failed can still bypass
// the model.
void ClassifySession::run(FrameJob &job)
{
    std::vector<std::shared_ptr<Findings>> found;
    std::vector<Crop> crops;
    for (const FrameItem &item : job.items) {
        found.push_back(std::make_shared<Findings>());
        found.back()->things = things_in(*item.frame);
        const std::vector<Crop> more = crops_of(item, found.size() - 1, *found.back());
        crops.insert(crops.end(), more.begin(), more.end());
    }
    for (size_t first = 0; first < crops.size(); first += plan_.pictures)
        classify(job,
                 std::span(crops).subspan(first, std::min(plan_.pictures, crops.size() - first)));
    for (size_t i = 0; i < job.items.size(); i++) {
        job.items[i].found = std::move(found[i]);
        job.items[i].results.push_back(std::move(job.items[i].frame));
    }
}

std::vector<ClassifySession::Crop> ClassifySession::crops_of(const FrameItem &item, size_t place,
                                                             Findings &findings) const
{
    const std::shared_ptr<const ClassifyParameters> parameters = plan_.parameters->at(item.number);
    const auto crop = [&](std::optional<size_t> thing, const Placement &placement) {
        return Crop{.item = place,
                    .parameters = parameters,
                    .findings = &findings,
                    .thing = thing,
                    .placement = placement};
    };
    if (!plan_.is_about_boxes(item))
        return {crop(std::nullopt, whole(*item.frame))};
    const Placing placing = plan_.settings.placing.value_or(Placing::stretch);
    std::vector<Crop> crops;
    for (size_t i = 0; i < findings.things.size(); i++) {
        const Finding &thing = findings.things[i];
        const std::optional<Region> part =
            region_of(thing.detection.box, plan_.input.size, plan_.chroma);
        if (part && is_target(thing.label, parameters->targets))
            crops.push_back(crop(i, place_part(*part, plan_.picture, placing, plan_.chroma)));
    }
    return crops;
}

Placement ClassifySession::whole(const AVFrame &frame) const
{
    const Region all = {.x = 0, .y = 0, .size = {frame.width, frame.height}};
    return place_part(all, plan_.picture, plan_.settings.placing.value_or(Placing::crop),
                      plan_.chroma);
}

void ClassifySession::classify(FrameJob &job, std::span<const Crop> crops)
{
    Images input = input_for(crops.size());
    input.number = job.items[crops.front().item].seed;
    if (crops.front().item == 0)
        input.predecessor_distance = job.predecessor_distance;
    feed(job, crops, input);
    const std::vector<DnnTorchTensor> tensors = run_model(job, input);
    Stopwatch watch(job.stages.convert_out);
    for (size_t i = 0; i < crops.size(); i++) {
        const Scores scores = scores_of(tensors, plan_.scores, input.batch, static_cast<int>(i));
        job.saw_nan |= has_nan(scores);
        Findings &findings = *crops[i].findings;
        std::vector<LabelScore> &classes =
            crops[i].thing ? findings.things[*crops[i].thing].classes : findings.classes;
        for (LabelScore &each : classes_of(scores, *crops[i].parameters))
            classes.push_back(std::move(each));
    }
}

// The buffer is sized for the largest run, even if the first run is smaller.
Images ClassifySession::input_for(size_t pictures)
{
    const auto floats = plan_.interleaved ? float_pixels : float_planes;
    Images input = floats(nullptr, static_cast<int>(pictures), plan_.channels, plan_.picture);
    input.data = memory_.of(session_, static_cast<size_t>(input.batch_stride) * plan_.pictures);
    return input;
}

void ClassifySession::feed(FrameJob &job, std::span<const Crop> crops, const Images &input)
{
    Stopwatch watch(job.stages.convert_in);
    for (size_t i = 0; i < crops.size(); i++)
        feeder_.feed(job.items[crops[i].item].frame.get(), crops[i].placement, input,
                     static_cast<int>(i));
}

std::vector<DnnTorchTensor> ClassifySession::run_model(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.forward);
    DnnTorchRun facts = {.size = sizeof(facts), .number = 0, .had_nan = 0, .retries = 0};
    std::vector<DnnTorchTensor> tensors = run_tensors(session_, input, facts);
    job.add_run(session_);
    return tensors;
}

std::vector<LabelScore> ClassifySession::classes_of(const Scores &scores,
                                                    const ClassifyParameters &parameters) const
{
    std::vector<LabelScore> classes;
    for (const ClassScore &each : likeliest(scores, {.kind = plan_.settings.scores,
                                                    .top = parameters.top,
                                                    .confidence = parameters.confidence}))
        classes.push_back({.label = label_of(plan_.labels, static_cast<int>(each.number)),
                           .confidence = each.confidence});
    return classes;
}

} // namespace dnn_torch
