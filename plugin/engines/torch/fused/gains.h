// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How much of a layer's output may arrive in a network's results, by the norms of the layers that
// follow.
#pragma once

#include "stages.h"

#include <vector>

namespace engine_torch::fused
{

// Products of the norms of some hundred layers overflow doubles.
using Gains = std::vector<long double>; // by channel

// By stage, for the core's output, before the tail: if samples of a channel change by up to x, all
// channels of the results at any one place together change by no more than the gain times x.  Where
// two tensors are multiplied, the other one's samples count as 1.
std::vector<Gains> gains_of(const StageList &list);

} // namespace engine_torch::fused
