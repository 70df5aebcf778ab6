// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds in a model's graph why a sample of its result may depend on far parts of a picture in a
// way that no trial would show: a branch on samples, places that are computed from samples, a
// statistic of the whole picture, a wide operator of unknown reach on what was compared or looked
// up.  Attention is not among it, for a trial shows how far it goes.  And finds how far it looks by
// its kernels, which trials may not show behind comparisons.
#pragma once

#include "kernel_reach.h"
#include "picture_layout.h"

#include <array>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>

namespace engine_torch
{

struct Outlook {
    // An operator's name, or words; "" if there is nothing.  If in doubt, there is something.
    std::string nonlocal_operator;
    // How far the kernels reach in height and width, if the graph consists of what is known.
    std::optional<std::array<KernelReach, 2>> kernels;
};

// `input_name` is the argument of forward() that takes the images, in that layout.
Outlook outlook_of(const torch::jit::Module &module, const std::string &input_name, Layout layout);

} // namespace engine_torch
