// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the picture in what forward() returned.
#pragma once

#include "engines/torch/program/binding.h"

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>

namespace engine_torch
{

// What decides which tensor is the picture, and in which layout it is.
struct OutputRequest {
    std::string name;             // the user's: "mask", "1", "out.0"; "" is none
    std::optional<Layout> layout; // nullopt: its extents show it
    Layout input = Layout::nchw;  // of the input pictures
    int64_t batch = 1, height = 1, width = 1;
    bool is_map = false; // of any number of channels, as for classes
    Segment segment = {};
};

// Returns the tensor of the wanted name, or the only one, or the first that can be a picture, with
// the expected rank if possible.  Of several maps it is the one named "out", as in torchvision's
// segmentation models.  Throws a Failure that says what came instead, and lists the names if one
// has to be chosen.
OutputChoice choose_output(const c10::IValue &returned, const OutputRequest &request);

// Returns a float32 tensor [batch, channels, height, width] on `device`, of any strides.  It shares
// memory with `returned` if it can.  Throws a Failure that says what came instead.
at::Tensor picture_of(const c10::IValue &returned, const OutputChoice &choice, int64_t batch,
                      const c10::Device &device);

// Throws a Failure unless the tensor holds real numbers without gaps in its indices, on the CPU or
// on a device of the same type as `device`.
void check_kind(const at::Tensor &tensor, const c10::Device &device);

} // namespace engine_torch
