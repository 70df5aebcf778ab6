// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes tensors of pictures and pictures of tensors.  No other file does so.
#pragma once

#include "host/frames/images.h"
#include "host/frames/picture_numbers.h"
#include "model.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dnn_torch
{

// Returns the shape [batch, channels, height, width] of float32.
DnnTorchTensor picture_shape(int batch, int channels, Size size);
// The same to plan for, where the model's pictures have those numbers.
DnnTorchTensor picture_shape(int batch, int channels, Size size, const PictureNumbers &numbers);

// Returns an extent of a tensor that an engine gave.  Throws Error if the tensor is no batch
// of pictures.
int picture_extent(const DnnTorchTensor &tensor, int dimension);

// Runs the model on a batch of pictures.  The view holds until the session's next run.  Its
// elements are floats, or like those of the input if the engine gives such.
// Throws Error, also if the model does not return one picture for each.
Images run_pictures(Session &session, const Images &input);

// How many tensors a model may return.
constexpr size_t most_tensors = 64;

// Tell what a model that gives all its tensors returns for such a picture, and run it.  They return
// those that came; views hold until the session's next run.  `facts` get what the run told.
// Throw Error.
std::vector<DnnTorchTensor> probe_tensors(Model &model, const DnnTorchTensor &shape);
std::vector<DnnTorchTensor> run_tensors(Session &session, const Images &input, DnnTorchRun &facts);

// "[1, 21, 64, 64] 'out', ...": what tensors there are.
std::string tensors_in_words(std::span<const DnnTorchTensor> tensors);

} // namespace dnn_torch
