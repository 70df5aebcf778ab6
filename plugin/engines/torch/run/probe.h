// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model makes of pictures, found by running it.
#pragma once

#include "model.h"

namespace engine_torch
{

// Recalls it, or runs the model once on grey pictures.  Throws a Failure or what LibTorch throws.
Shape probe(DnnTorchModel &model, const Shape &shape);

} // namespace engine_torch
