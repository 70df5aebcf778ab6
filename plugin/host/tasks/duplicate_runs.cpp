// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "duplicate_runs.h"

#include "host/frames/likeness.h"

#include <utility>

namespace dnn_torch
{
namespace
{

constexpr size_t most_repeats = 4; // more of them are a still picture

} // namespace

bool DuplicateRuns::repeats(const FrameItem &item) const
{
    return first_ && !item.starts_anew && !item.bypass && item.frame->width == first_->width &&
           item.frame->height == first_->height && item.frame->format == first_->format &&
           show_the_same(first_.get(), item.frame.get());
}

// What is held stays before a frame that does not belong to it: nothing lies between them.
std::vector<FrameItem> DuplicateRuns::pass(FrameItem item)
{
    std::vector<FrameItem> out;
    if (repeats(item)) {
        held_.push_back(std::move(item));
        is_still_ = is_still_ || held_.size() > most_repeats;
        return is_still_ ? std::exchange(held_, {}) : std::move(out);
    }
    if (item.starts_anew || item.bypass)
        out = std::move(held_);
    held_.clear();
    is_still_ = false;
    first_ = item.bypass ? nullptr : new_reference(item.frame.get());
    out.push_back(std::move(item));
    return out;
}

std::vector<FrameItem> DuplicateRuns::flush()
{
    first_.reset();
    is_still_ = false;
    return std::exchange(held_, {});
}

} // namespace dnn_torch
