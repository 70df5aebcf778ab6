// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out the shapes of a model's results by running it.
#pragma once

#include "model.h"

#include <vector>

namespace engine_torch
{

// Returns the shape of the result: recalls an earlier one, or runs the model once on grey pictures.
// Throws a Failure or what LibTorch throws.
Shape probe(DnnTorchModel &model, const Shape &shape);

// Runs a model once that was opened with results=tensors, and returns its tensors without data.
// Recalls nothing: how many there are may depend on the pictures.
std::vector<DnnTorchTensor> probe_all(DnnTorchModel &model, const Shape &shape);

} // namespace engine_torch
