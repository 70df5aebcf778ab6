// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether a model computes each picture of a batch by itself.
#pragma once

#include "engines/torch/program/variants.h"
#include "engines/torch/shape.h"

namespace engine_torch
{

// Runs the model as it was saved on a batch of different pictures, of at most the shape's size, and
// on each of them alone.  Returns true if a picture's result differs in the batch, or if the model
// takes the pictures alone but not together.  Causes are norms over a whole batch, and tensors
// whose first extent was written as 1.  Returns false if memory does not suffice to find out.
bool mixes_pictures(const Source &source, const Shape &shape);

} // namespace engine_torch
