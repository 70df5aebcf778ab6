// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Prepares forms with a clip's pictures, or with some that are the same for all.
#pragma once

#include "engines/torch/program/forms.h"
#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

namespace engine_torch
{

// Finds out what the layers of a form in int8 meet, and keeps those in fp32 that lose too much.
// Uses parts of `samples`; if there are none, or the model takes none of them or they are flat,
// pictures that are the same for all.  So a model gives the same frames in int8 whatever else it
// has seen before.  Says in form.about what was found.  `shape` is that of the video's pictures,
// for models that take no others.  Throws a Failure if no layer is left, or the model takes no
// picture.
void calibrate(Form &form, const Source &source, const Shape &shape, const at::Tensor &samples);

// Shows a fused form in bf16 what samples pictures have; see learn_usual_samples().  Does nothing
// if the model takes none of them.
void show_pictures(const Form &form, const Source &source, const Shape &shape);

} // namespace engine_torch
