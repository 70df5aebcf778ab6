// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts between pictures and tensors.  No other file does so.
#pragma once

#include "host/frames/images.h"
#include "model.h"

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace dnn_torch
{

// Returns the shape [batch, channels, height, width] of float32.
DnnTorchTensor picture_shape(int batch, int channels, Size size);
// The same as a shape to plan for: the model's pictures have those numbers.
DnnTorchTensor picture_shape(int batch, int channels, Size size, const PictureNumbers &numbers);

// Returns an extent of an engine's tensor.  Throws Error if the tensor is not a batch of pictures.
int picture_extent(const DnnTorchTensor &tensor, int dimension);

// What an extra input gets in a run: one number for each picture, or one for a segment or for all.
struct InputNumbers {
    std::string name;
    std::variant<std::vector<float>, std::vector<int64_t>> numbers;
    bool is_for_all = false;
};

// Runs the model on a batch of pictures.  The view is valid until the session's next run.  Its
// elements are floats, or have the input's type if the engine returns that.
// Throws Error, also if the model does not return one picture for each.
Images run_pictures(Session &session, const Images &input,
                    std::span<const InputNumbers> numbers = {});

// The most tensors that a model may return.
constexpr size_t most_tensors = 64;

// Find the tensors that a model with results=tensors returns for such a picture, and run it.  They
// return the present ones; views are valid until the session's next run.  `facts` gets the results
// of the run.  Throw Error.
std::vector<DnnTorchTensor> probe_tensors(Model &model, const DnnTorchTensor &shape);
std::vector<DnnTorchTensor> run_tensors(Session &session, const Images &input, DnnTorchRun &facts,
                                        std::span<const InputNumbers> numbers = {});

// Lists tensors: "[1, 21, 64, 64] 'out', ...".
std::string tensors_in_words(std::span<const DnnTorchTensor> tensors);

} // namespace dnn_torch
