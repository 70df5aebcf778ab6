// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "carried_findings.h"

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

// Boxes that overlap less belong to different objects.
constexpr float least_overlap = 0.3F;

// Returns the intersection over union.
float overlap_of(const Box &one, const Box &other)
{
    const float width = std::min(one.right, other.right) - std::max(one.left, other.left);
    const float height = std::min(one.bottom, other.bottom) - std::max(one.top, other.top);
    if (!(width > 0 && height > 0))
        return 0;
    const float both = width * height, all = one.area() + other.area() - both;
    return all > 0 ? both / all : 0;
}

const Finding *same_thing(const std::vector<Finding> &things, const Finding &thing)
{
    const Finding *best = nullptr;
    float best_overlap = least_overlap;
    for (const Finding &known : things) {
        const float overlap = overlap_of(known.detection.box, thing.detection.box);
        const bool has_track = thing.track != 0 && known.track == thing.track;
        if (known.label != thing.label || (!has_track && overlap < best_overlap))
            continue;
        best = &known;
        if (has_track)
            return best;
        best_overlap = overlap;
    }
    return best;
}

// Moves the mask, the turned box and the key points with the box's centre.
void move_to(Detection &detection, const Box &box)
{
    const float right = (box.left + box.right - detection.box.left - detection.box.right) / 2;
    const float down = (box.top + box.bottom - detection.box.top - detection.box.bottom) / 2;
    detection.box = box;
    if (detection.mask) {
        Box &area = detection.mask.area;
        area = {area.left + right, area.top + down, area.right + right, area.bottom + down};
    }
    if (detection.turned) {
        detection.turned->middle_x += right;
        detection.turned->middle_y += down;
    }
    for (KeyPoint &point : detection.key_points) {
        point.x += right;
        point.y += down;
    }
}

// Clips the box to the frame.  Returns whether it is still at least half a pixel wide and high.
bool clip_to(Box &box, Size frame)
{
    constexpr float least = 0.5F;
    box.left = std::max(box.left, 0.0F);
    box.top = std::max(box.top, 0.0F);
    box.right = std::min(box.right, static_cast<float>(frame.width));
    box.bottom = std::min(box.bottom, static_cast<float>(frame.height));
    return box.width() >= least && box.height() >= least;
}

} // namespace

Findings CarriedFindings::found(Findings found, Size size)
{
    if (size != size_)
        tracker_.reset();
    size_ = size;
    keep(std::move(found));
    return last_;
}

void CarriedFindings::keep(Findings found)
{
    if (tracks_) {
        number(found.things);
        measured_ = tracker_;
    }
    since_ = 0;
    last_ = std::move(found);
}

// The tracker goes back to the last measured frame, and from there to the earlier frame and to now.
void CarriedFindings::found_late(Findings found, Size size, int64_t frames_ago)
{
    const int64_t before = since_ - frames_ago - 1;
    if (before < 0)
        return;
    if (size != size_)
        measured_.reset();
    size_ = size;
    if (tracks_) {
        tracker_ = measured_;
        predict(before);
    }
    keep(std::move(found));
    if (tracks_)
        predict(frames_ago);
    since_ = frames_ago;
}

void CarriedFindings::predict(int64_t frames)
{
    for (; frames > 0; frames--)
        tracker_.predict();
}

Findings CarriedFindings::carry(Size size)
{
    if (size != size_) {
        forget();
        tracker_.reset();
    }
    size_ = size;
    since_++;
    Findings now = last_;
    if (tracks_) {
        tracker_.predict();
        move(now.things);
    }
    return now;
}

void CarriedFindings::number(std::vector<Finding> &things)
{
    std::vector<Detection> detections;
    detections.reserve(things.size());
    for (const Finding &thing : things)
        detections.push_back(thing.detection);
    const std::vector<int64_t> numbers = tracker_.update(detections);
    for (size_t i = 0; i < things.size(); i++)
        things[i].track = numbers[i];
}

// Removes objects that have left the frame.
void CarriedFindings::move(std::vector<Finding> &things) const
{
    std::erase_if(things, [this](Finding &thing) {
        const std::optional<Box> expected = tracker_.box_of(thing.track);
        if (expected)
            move_to(thing.detection, *expected);
        return !expected || !clip_to(thing.detection.box, size_);
    });
}

void CarriedFindings::reapply_classes(Findings &now) const
{
    now.classes = last_.classes;
    for (Finding &thing : now.things)
        if (const Finding *known = same_thing(last_.things, thing))
            thing.classes.insert(thing.classes.end(),
                                 known->classes.begin() +
                                     static_cast<ptrdiff_t>(known->earlier_classes),
                                 known->classes.end());
}

void CarriedFindings::forget()
{
    last_ = {};
}

void CarriedFindings::pass()
{
    since_++;
    tracker_.predict();
}

} // namespace dnn_torch
