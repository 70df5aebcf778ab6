// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds lists that a model converts in place, as torchvision's AnchorGenerator does: self.anchors =
// [a.to(dtype, device) for a in self.anchors].
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Returns the aten::to node if the SetAttr stores a list that converts each element of the same
// attribute, in order; null if it stores anything else.  Later runs then get the same numbers, in
// the type of the run before.
const torch::jit::Node *conversion_of_elements(const torch::jit::Node &set);

} // namespace engine_torch
