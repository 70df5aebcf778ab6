// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out what a model makes of pictures by running it.
#pragma once

#include "model.h"

namespace engine_torch
{

// Recalls an earlier result, or runs the model once on grey pictures.  Throws a Failure or what
// LibTorch throws.
Shape probe(DnnTorchModel &model, const Shape &shape);

} // namespace engine_torch
