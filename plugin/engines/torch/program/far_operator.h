// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds in a model's graph why a sample of its result may depend on far parts of a picture in a
// way that no trial would show: a branch on samples, places that are computed from samples, a
// statistic of the whole picture.  Attention is not among it, for a trial shows how far it goes.
#pragma once

#include "picture_layout.h"

#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

// Returns the operator's name, or words for a branch; "" if there is nothing.  In doubt there is
// something.  `input_name` is the argument of forward() that takes the images, in that layout.
std::string far_operator(const torch::jit::Module &module, const std::string &input_name,
                         Layout layout);

} // namespace engine_torch
