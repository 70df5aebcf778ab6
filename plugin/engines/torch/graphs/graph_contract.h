// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a graph from elsewhere tells about the picture that it takes.  Needs no LibTorch.
#pragma once

#include "engines/torch/checkpoint/weights.h"

#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Of sizes that are not fixed.
struct SizeRules {
    int64_t multiple = 1, minimum = 1;
};

// What a graph tells about an input of four dimensions, as JSON; sizes below 0 are not fixed.
std::string picture_contract(std::optional<ElementType> type, const std::vector<int64_t> &shape,
                             bool is_any_size, const SizeRules &rules = {});

} // namespace engine_torch
