// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "carried_findings.h"

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

// Boxes that overlap less are of different things.
constexpr float least_overlap = 0.3F;

// The intersection's share of the union.
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

} // namespace

Findings CarriedFindings::found(Findings found, Size size)
{
    last_ = std::move(found);
    size_ = size;
    return last_;
}

Findings CarriedFindings::carry(Size size)
{
    if (size != size_)
        forget();
    return last_;
}

void CarriedFindings::say_again(Findings &now) const
{
    now.classes = last_.classes;
    for (Finding &thing : now.things)
        if (const Finding *known = same_thing(last_.things, thing); known && thing.classes.empty())
            thing.classes = known->classes;
}

void CarriedFindings::forget()
{
    last_ = {};
}

} // namespace dnn_torch
