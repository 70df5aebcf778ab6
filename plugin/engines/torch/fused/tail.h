// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The part of a stage's tail that oneDNN does not do, prepared for its rows.
#pragma once

#include "pointwise.h"
#include "stages.h"

#include <cstddef>
#include <vector>

namespace engine_torch::fused
{

struct PreparedTail {
    std::vector<PreparedStep> steps;
    std::vector<TensorId> fused_others, others; // operands of oneDNN's steps, and of these
};

// The first `fused_steps` steps are oneDNN's.
PreparedTail prepare_tail(const Stage &stage, size_t fused_steps, const RowLayout &layout);

} // namespace engine_torch::fused
