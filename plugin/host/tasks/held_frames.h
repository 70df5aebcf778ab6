// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the frames of windows and segments take while they wait for each other.
#pragma once

#include "host/model/contract.h"
#include "task.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace dnn_torch
{

// What a contract says of them.
Window window_of(const Contract &contract);
Segments segments_of(const Contract &contract);

FrameBytes bytes_of(const FrameShape &input, Size output, int channels, int output_channels);

// What that many jobs at once hold.  Without windows and segments it is nothing.
struct HeldFrames {
    size_t frames = 0; // that came in
    int64_t bytes = 0;
};
HeldFrames held_frames(const Window &window, const Segments &segments, size_t batch_size,
                       const CoreBudget &budget, const FrameBytes &each);

// Returns "60 frames, 1.2 GB".
std::string in_words(const HeldFrames &held);

// Throws Error if that is more than the memory that is free.
void expect_memory_for(const TaskPlan &plan, const CoreBudget &budget, const Machine &machine);

} // namespace dnn_torch
