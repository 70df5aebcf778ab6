// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether a model's numbers speak against the range that they are read with.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"

#include <string>

namespace dnn_torch
{

struct RangeWarning {
    std::string words;  // or "": nothing speaks against the range
    std::string option; // of `range`, which fits; or "": none is known
};

// Compares some samples of a picture that went in with some that came out of it.  Pictures of one
// colour tell nothing.
RangeWarning warning_of_range(const Contract &contract, const Images &in, const Images &out);

} // namespace dnn_torch
