// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How much of what a layer makes may arrive in a network's results, by the norms of the layers
// behind it.
#pragma once

#include "stages.h"

#include <vector>

namespace engine_torch::fused
{

// Products of the norms of some hundred layers leave doubles.
using Gains = std::vector<long double>; // by channel

// By stage, of what its core makes, before the tail: if samples of a channel change by up to some
// amount, the results' channels at any one place change by no more than the number times that, all
// together.  Where two tensors are multiplied the other one's samples count as 1.
std::vector<Gains> gains_of(const StageList &list);

} // namespace engine_torch::fused
