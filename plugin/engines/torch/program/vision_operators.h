// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of our own, which models get beside torchvision's or in their place.
#pragma once

#include <string>

namespace engine_torch
{

// Fails unless the boxes (N x 5: the picture's number and two corners) are of pictures of `input`,
// which are not empty, and their corners are sensible numbers.  torchvision does not look, and
// reads beyond the tensor.
constexpr const char *sound_boxes = "dnn_torch::sound_boxes";

// What torchvision::box_iou_rotated computes, whose numbers torchvision sorts in a way that NaN
// leads out of its memory.
constexpr const char *overlaps_of_rotated = "dnn_torch::box_iou_rotated";

// Whether LibTorch knows an operator of this name, "torchvision::nms".
bool is_provided(const std::string &name);

// Makes torchvision's nms and box_iou_rotated known where LibTorch has them not, and those above.
// Call it once, with torchvision opened if it can be.
void register_vision_operators();

} // namespace engine_torch
