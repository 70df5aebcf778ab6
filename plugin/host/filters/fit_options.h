// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The option `fit` of filters that fit frames into a model's picture.
#pragma once

#include "host/frames/placement.h"
#include "options.h"

#include <cstddef>
#include <optional>

namespace dnn_torch
{

struct FitTexts {
    const char *help, *automatic, *letterbox;
    const char *unit;
};

// `offset` must be that of an int.
OptionTable fit_options(const FitTexts &texts, size_t offset);

// Returns nullopt if the model decides.
std::optional<Placing> placing_of(int fit);

} // namespace dnn_torch
