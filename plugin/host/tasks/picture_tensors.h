// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes tensors of pictures and pictures of tensors.  No other file does so.
#pragma once

#include "host/frames/images.h"
#include "host/inference/model.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Returns the shape [batch, channels, height, width] of float32.
DnnTorchTensor picture_shape(int batch, int channels, Size size);

// Returns an extent of a tensor that an engine gave.  Throws Error if the tensor is no batch
// of pictures.
int picture_extent(const DnnTorchTensor &tensor, int dimension);

// Runs the model on a batch of pictures.  The view holds until the session's next run.  Its
// elements are floats, or like those of the input if the engine gives such.
// Throws Error, also if the model does not return one picture for each.
Images run_pictures(Session &session, const Images &input);

// Runs a model that gives all its tensors.  Returns those that came, `most` at most; the views hold
// until the session's next run.  `facts` get what the run told.  Throws Error.
std::vector<DnnTorchTensor> run_tensors(Session &session, const Images &input, size_t most,
                                        DnnTorchRun &facts);

} // namespace dnn_torch
