// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// torchvision's operators: nms, roi_align, deform_conv2d and their kin.
//
// LibTorch does not have them.  They are in the library _C of Python's torchvision, which needs no
// Python to be opened.
#pragma once

#include "engines/torch/file/source_check.h"

#include <string>

namespace engine_torch
{

// The variable that names another _C library than those of the Python folders.
constexpr const char *torchvision_variable = "DNN_TORCH_TORCHVISION";

// Makes the operators of torchvision that the code names known to LibTorch; does nothing if it
// names none.  Without the library, nms is our own; box_iou_rotated always is.  Returns an empty
// text, or what a Failure has to say if any is still unknown: "needs ...".  Any thread.
std::string provide_torchvision(const SourceFacts &facts);

} // namespace engine_torch
