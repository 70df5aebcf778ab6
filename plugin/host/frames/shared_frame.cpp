// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shared_frame.h"

#include "host/workers/fork_gate.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace dnn_torch
{

// Frames use locks of libavutil.
SharedFrame::~SharedFrame()
{
    NoFork no_fork;
    frame_.reset();
    for (Made &each : made_)
        each.converted.reset();
}

// Compares owners, because another plan may later have the same address.
SharedFrame::Made &SharedFrame::made_for(const Plan &plan)
{
    for (Made &each : made_)
        if (!each.plan.owner_before(plan) && !plan.owner_before(each.plan))
            return each;
    return made_.emplace_back(Made{.plan = plan});
}

const AVFrame *SharedFrame::converted(const Plan &plan, const Convert &convert)
{
    std::lock_guard lock(mutex_);
    Made &made = made_for(plan);
    if (!made.converted)
        made.converted = convert(frame_.get());
    return made.converted.get();
}

Images SharedFrame::planes(const Plan &plan, int channels, const Read &read)
{
    std::lock_guard lock(mutex_);
    Made &made = made_for(plan);
    if (made.samples.empty()) {
        const Size size = {frame_->width, frame_->height};
        std::vector<float> samples(static_cast<size_t>(channels) * static_cast<size_t>(size.width) *
                                   static_cast<size_t>(size.height));
        const Images planes = float_planes(samples.data(), 1, channels, size);
        read(made.converted ? made.converted.get() : frame_.get(), planes);
        made.samples = std::move(samples); // does not move the numbers
        made.planes = planes;
    }
    return made.planes;
}

void copy_planes(const Images &from, int left, int top, const Images &to, int index)
{
    const int width = std::min(to.width, from.width - left);
    const int height = std::min(to.height, from.height - top);
    for (int c = 0; c < to.channels; c++)
        for (int y = 0; y < height; y++) {
            const auto *source = static_cast<const std::byte *>(from.data) +
                                 c * from.channel_stride + (top + y) * from.row_stride +
                                 left * from.column_stride;
            auto *target = static_cast<std::byte *>(to.data) + index * to.batch_stride +
                           c * to.channel_stride + y * to.row_stride;
            std::memcpy(target, source, static_cast<size_t>(width) * sizeof(float));
        }
}

} // namespace dnn_torch
