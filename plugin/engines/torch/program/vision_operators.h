// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of our own, in addition to torchvision's or in their place.
#pragma once

#include <string>

namespace engine_torch
{

// Throws unless the boxes (N x 5: index of the picture and two corners) belong to pictures of
// `input` that are not empty, and their corners are within bounds.  torchvision does not check
// them, and reads beyond the tensor.
constexpr const char *sound_boxes = "dnn_torch::sound_boxes";

// Computes the same as torchvision::box_iou_rotated, whose sort reads out of bounds if there are
// NaNs.
constexpr const char *overlaps_of_rotated = "dnn_torch::box_iou_rotated";

// Whether LibTorch knows an operator of this name, such as "torchvision::nms".
bool is_provided(const std::string &name);

// Registers the operators above, and torchvision's nms and box_iou_rotated where they are missing.
// Call it once, after torchvision was loaded, if it can be.
void register_vision_operators();

} // namespace engine_torch
