// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Prepares variants with a clip's pictures, or with generated ones.
#pragma once

#include "engines/torch/program/variants.h"
#include "engines/torch/shape.h"

#include <ATen/core/Tensor.h>

namespace engine_torch
{

// Calibrates a variant in int8, and keeps those layers in fp32 that would lose too much.  Uses
// parts of `samples`; if there are none, or they are flat, or the model takes none, pictures that
// are generated and always the same.  So a model gives the same frames in int8 whatever it was run
// on before.  Describes the result in variant.about.  `shape` is that of the video's pictures, for
// models that take no others.  Throws a Failure if no layer is left in int8, or the model takes no
// picture.
void calibrate(Variant &variant, const Source &source, const Shape &shape,
               const at::Tensor &samples);

// Shows a fused variant in bf16 typical pictures; see learn_typical_samples().  Does nothing if the
// model takes none of them.
void show_pictures(const Variant &variant, const Source &source, const Shape &shape);

} // namespace engine_torch
