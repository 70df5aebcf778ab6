// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "findings_step.h"

#include <utility>

namespace dnn_torch
{

// Which frames the model sees.
class EveryNth
{
public:
    explicit EveryNth(int every) : every_(every) {}

    bool skips(const FrameItem &item)
    {
        const Size size = {item.frame->width, item.frame->height};
        if (item.number != next_number_ || size != size_)
            position_ = 0;
        next_number_ = item.number + 1;
        size_ = size;
        return position_++ % every_ != 0;
    }

private:
    int64_t every_, position_ = 0;
    int64_t next_number_ = 0;
    Size size_ = {};
};

struct FindingsStep::State {
    explicit State(FindingsSettings the_settings)
        : settings(std::move(the_settings)), every_nth(settings.every)
    {
    }

    const FindingsSettings settings;
    EveryNth every_nth;
    Findings last; // what the model found last
};

FindingsStep::FindingsStep(FindingsSettings settings)
    : state_(std::make_unique<State>(std::move(settings)))
{
}

FindingsStep::~FindingsStep() = default;

void FindingsStep::open() {}

bool FindingsStep::skips(const FrameItem &item)
{
    return state_->every_nth.skips(item);
}

void FindingsStep::complete(FrameItem &item, AVRational)
{
    if (item.bypass && !item.skipped)
        return;
    if (!item.skipped)
        state_->last = item.found ? *item.found : Findings{};
}

void FindingsStep::end() {}

} // namespace dnn_torch
