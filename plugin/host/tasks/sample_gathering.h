// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Gathers the pictures that int8 is calibrated with, as a task passes them to its model.
#pragma once

#include "host/model/samples.h"
#include "task.h"

#include <memory>
#include <span>

namespace dnn_torch
{

// Returns an item with references to the same pictures, without results.
FrameItem new_reference(const FrameItem &item);

// Returns the model's inputs for the stream's first frames or for the clip, as the task's
// calibration says.  Returns null if the model is not calibrated with either.  `input` is the shape
// of the stream's frames, and `first` are some of them.  Throws Error.
std::shared_ptr<const Samples> samples_for(Task &task, const FrameShape &input,
                                           std::span<const FrameItem> first);

// Reads the option `calibration`.  Throws Error if the file cannot be read.
Calibration parse_calibration(const std::string &text);

} // namespace dnn_torch
