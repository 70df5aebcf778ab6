// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The numbers that frames give to extra inputs of a model.
#pragma once

#include "host/model/picture_tensors.h"
#include "task.h"

#include <vector>

namespace dnn_torch
{

// Returns what the plan's inputs get with a job: a number for each frame, or that of a segment's
// first frame.  Throws Error if a frame has no time.
std::vector<InputNumbers> numbers_for(const FrameJob &job, const TaskPlan &plan);

} // namespace dnn_torch
