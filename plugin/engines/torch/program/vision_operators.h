// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of our own, which models get beside torchvision's or in their place.
#pragma once

namespace engine_torch
{

// Fails unless the boxes (N x 5: the picture's number and two corners) are of pictures of `input`
// and their corners are sensible numbers.  torchvision does not look, and reads beyond the tensor.
constexpr const char *sound_boxes = "dnn_torch::sound_boxes";

// Makes torchvision::nms known unless LibTorch has it, and sound_boxes.  Call it once.
void register_vision_operators(bool has_nms);

} // namespace engine_torch
