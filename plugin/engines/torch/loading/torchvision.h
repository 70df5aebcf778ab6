// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of torchvision, such as nms, roi_align and deform_conv2d.
//
// LibTorch does not have them.  They are in the library _C of Python's torchvision, which can be
// loaded without Python.
#pragma once

#include "engines/torch/file/source_check.h"

#include <string>

namespace engine_torch
{

// The environment variable that names a _C library instead of those in the Python folders.
constexpr const char *torchvision_variable = "DNN_TORCH_TORCHVISION";

// Makes LibTorch know the torchvision operators that the code names; does nothing if it names none.
// nms is our own if there is no library, and box_iou_rotated always is.  Returns "", or the text of
// a Failure, "needs ...", if an operator is still unknown.  Any thread.
std::string provide_torchvision(const SourceFacts &facts);

} // namespace engine_torch
