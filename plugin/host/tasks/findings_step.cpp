// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "findings_step.h"

#include "host/error.h"
#include "host/findings/carried_findings.h"
#include "host/findings/metadata.h"
#include "host/findings/records.h"
#include "host/findings/side_data.h"
#include "host/workers/fork_gate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace dnn_torch
{
namespace
{

Size size_of(const AVFrame &frame)
{
    return {frame.width, frame.height};
}

std::string label_for(const Finding &finding, Tracking track)
{
    const bool has_number = track == Tracking::label && finding.track != 0;
    return has_number ? finding.label + " #" + std::to_string(finding.track) : finding.label;
}

// A classifier keeps the track numbers of the detector before it.
bool assigns_tracks(const FindingsSettings &settings)
{
    return settings.track != Tracking::off && settings.earlier != EarlierBoxes::refined;
}

bool is_inside(const Box &box, const Box &other)
{
    return box.left >= other.left && box.top >= other.top && box.right <= other.right &&
           box.bottom <= other.bottom;
}

// The largest come first, which contain many others.
void hide_boxes(std::vector<Box> boxes, Hiding hiding, AVFrame &frame)
{
    if (boxes.empty())
        return;
    make_frame_writable(frame);
    std::sort(boxes.begin(), boxes.end(),
              [](const Box &one, const Box &other) { return one.area() > other.area(); });
    for (auto box = boxes.begin(); box != boxes.end(); box++)
        if (std::none_of(boxes.begin(), box,
                         [&](const Box &each) { return is_inside(*box, each); }))
            hide(static_cast<int>(std::floor(box->left)), static_cast<int>(std::floor(box->top)),
                 static_cast<int>(std::ceil(box->right)), static_cast<int>(std::ceil(box->bottom)),
                 hiding, &frame);
}

std::string joined_sources(const std::string &earlier, const std::string &own)
{
    if (earlier.empty() || earlier.find(own) != earlier.npos)
        return earlier.empty() ? own : earlier;
    return earlier + ", " + own;
}

} // namespace

struct FindingsStep::State {
    explicit State(FindingsSettings the_settings)
        : settings(std::move(the_settings)), carried(assigns_tracks(settings))
    {
    }

    // Returns the findings to write: the frame's own, or those carried over.
    Findings findings_for(const FrameItem &item, const AVFrame &frame);
    // Writes all boxes into the frame: those of earlier filters that are kept, and the new ones.
    void write(AVFrame &frame, const Findings &found) const;
    void record(const FrameFacts &frame, const Findings &found);
    void open_records_once();

    const FindingsSettings settings;
    CarriedFindings carried;
    int64_t latest = -1; // the number of the last frame that was completed
    std::unique_ptr<FindingsSink> records;
};

Findings FindingsStep::State::findings_for(const FrameItem &item, const AVFrame &frame)
{
    const bool refines = settings.earlier == EarlierBoxes::refined;
    if (item.found)
        return carried.found(*item.found, size_of(frame));
    if (!item.skipped)
        carried.forget(); // the model's process crashed twice on this frame
    if (!refines)
        return carried.carry(size_of(frame));
    Findings now = {.things = things_in(frame), .classes = {}};
    carried.reapply_classes(now);
    return now;
}

void FindingsStep::State::write(AVFrame &frame, const Findings &found) const
{
    std::optional<KnownBoxes> known = read_boxes(frame);
    const bool refines = settings.earlier == EarlierBoxes::refined;
    const bool had_boxes = known.has_value();
    KnownBoxes all;
    if (had_boxes && settings.earlier == EarlierBoxes::kept)
        all = *std::exchange(known, std::nullopt);
    if (had_boxes && refines)
        all.source = known->source;
    const size_t first = all.boxes.size();
    for (const Finding &finding : found.things)
        all.boxes.push_back(box_of(finding, label_for(finding, settings.track), size_of(frame)));
    // A classifier changes only the classes of a box.
    for (size_t i = 0; refines && i < all.boxes.size() && known && i < known->boxes.size(); i++) {
        AVDetectionBBox &box = all.boxes[i] = known->boxes[i];
        put_classes(box, found.things[i].classes);
    }
    // A classifier writes no boxes into a frame that had no box side data.
    if (!refines || had_boxes)
        write_boxes(frame, joined_sources(all.source, settings.source), all.boxes);
    // Side data cannot hold classes of a whole frame.  Metadata of an earlier filter is updated,
    // because it describes all boxes.
    if (settings.metadata || !found.classes.empty() || has_metadata(frame))
        write_metadata(frame, all.boxes, found, {.first = first, .keeps_others = refines});
}

void FindingsStep::State::record(const FrameFacts &frame, const Findings &found)
{
    if (settings.destination.empty())
        return;
    open_records_once();
    records->write(frame, found);
}

void FindingsStep::State::open_records_once()
{
    if (!records && !settings.destination.empty())
        records = open_records(settings.destination, settings.format);
}

FindingsStep::FindingsStep(FindingsSettings settings)
    : state_(std::make_unique<State>(std::move(settings)))
{
}

FindingsStep::~FindingsStep() = default;

void FindingsStep::open()
{
    const FindingsSettings &settings = state_->settings;
    if (settings.destination.empty() && settings.format != RecordFormat::automatic)
        throw Error(AVERROR(EINVAL), "format= says how records are written; say where to with "
                                     "destination=FILE, or leave format away");
}

ShownMasks FindingsStep::masks() const
{
    return state_->settings.masks;
}

void FindingsStep::complete(FrameItem &item, AVRational time_base)
{
    state_->latest = item.number;
    if (item.results.empty())
        return state_->carried.pass();
    AVFrame &frame = *item.results.front();
    if (item.bypass && !item.skipped)
        return state_->carried.pass();
    Findings found = state_->findings_for(item, frame);
    show_masks(found, state_->settings.masks, frame);
    hide_boxes(found.hidden, state_->settings.hiding, frame);
    std::vector<LabelScore> classes = frame_classes_in(frame);
    state_->write(frame, found);
    // Records have the same classes as metadata, including those of earlier classifiers.
    classes.insert(classes.end(), found.classes.begin(), found.classes.end());
    found.classes = std::move(classes);
    state_->record(
        {.number = item.number, .pts = frame.pts, .time_base = time_base, .size = size_of(frame)},
        found);
}

void FindingsStep::learn(const FrameItem &earlier)
{
    if (earlier.found && !earlier.results.empty())
        state_->carried.found_late(*earlier.found, size_of(*earlier.results.front()),
                                   state_->latest - earlier.number);
}

void FindingsStep::end()
{
    // Opens the records even if there were no frames, so that an earlier program's are overwritten.
    state_->open_records_once();
    if (state_->records)
        state_->records->end();
    state_->records.reset();
}

void FindingsStep::close_records()
{
    state_->records.reset();
}

} // namespace dnn_torch
