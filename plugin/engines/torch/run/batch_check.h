// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether a model computes the pictures of a batch each by itself.
#pragma once

#include "engines/torch/program/forms.h"
#include "engines/torch/shape.h"

namespace engine_torch
{

// Runs the model as it was saved on a batch of unlike pictures, of at most the shape's size, and on
// each of them alone.  Returns true if a picture's result is another one in the batch, or if the
// model takes the pictures alone and not together.  Norms over a whole batch are such, and tensors
// whose first extent was written as 1.  Returns false if memory does not suffice to find out.
bool mixes_pictures(const Source &source, const Shape &shape);

} // namespace engine_torch
