// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "host/findings/side_data.h"
#include "task.h"

#include <algorithm>
#include <cstdint>

namespace dnn_torch
{

// Selects the frames that the model gets.
class EveryNth
{
public:
    explicit EveryNth(int every) { use(every); }

    // Applies from the next frame on.
    void use(int every)
    {
        every_ = every;
        left_ = std::min<int64_t>(left_, every - 1);
    }

    // Classes of whole frames cannot be carried over to boxes, nor the other way round, so the
    // count restarts when boxes appear or disappear.
    bool skips(const FrameItem &item)
    {
        const Size size = {item.frame->width, item.frame->height};
        const bool has_boxes = has_box_data(*item.frame);
        const bool restarts =
            item.number != next_number_ || size != size_ || has_boxes != had_boxes_;
        next_number_ = item.number + 1;
        size_ = size;
        had_boxes_ = has_boxes;
        if (!restarts && left_-- > 0)
            return true;
        left_ = every_ - 1;
        return false;
    }

private:
    int64_t every_ = 1, left_ = 0; // frames to skip
    int64_t next_number_ = 0;
    Size size_ = {};
    bool had_boxes_ = false;
};

} // namespace dnn_torch
