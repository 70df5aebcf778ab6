// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds lists that a model converts in place: self.anchors = [a.to(dtype, device) for a in
// self.anchors], as torchvision's AnchorGenerator has it.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Returns the node aten::to that makes each element of what the SetAttr stores from the element of
// the same attribute at the same place, or null if it stores anything else.  Later runs then see
// the same numbers, in the type of the run before.
const torch::jit::Node *conversion_of_elements(const torch::jit::Node &set);

} // namespace engine_torch
