// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lost_frames.h"

#include <mutex>
#include <utility>

namespace dnn_torch
{
namespace
{

std::mutex lost_mutex;
// ---- under lost_mutex ----
LostFrames latest{};

bool goes_on(const LostFrames &lost, const std::string &model, double first_seconds)
{
    constexpr double longest_gap = 1;
    double gap = first_seconds - lost.last_seconds; // may be NaN
    return lost.frames && lost.model == model && gap > 0 && gap <= longest_gap;
}

} // namespace

void remember_lost(LostFrames lost)
{
    std::lock_guard lock(lost_mutex);
    latest = std::move(lost);
}

size_t take_lost_before(const std::string &model, double first_seconds)
{
    LostFrames lost{};
    {
        std::lock_guard lock(lost_mutex);
        lost = std::exchange(latest, {});
    }
    return goes_on(lost, model, first_seconds) ? lost.frames : 0;
}

} // namespace dnn_torch
