// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks whether the range with which a model's output is read can be right.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"

#include <string>

namespace dnn_torch
{

struct RangeWarning {
    std::string words;  // or "": the range is plausible
    std::string option; // the value of `range` that fits; or "": none is known
};

// Compares some samples of an input picture with some of its output.  Pictures of one colour show
// nothing.
RangeWarning warning_of_range(const Contract &contract, const Images &in, const Images &out);

} // namespace dnn_torch
