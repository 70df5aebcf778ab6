// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out by trial how a model takes its pictures and which tensor comes back.
#pragma once

#include "all_tensors.h"
#include "model.h"
#include "output.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// What decides which result is the picture, for pictures [batch, channels, height, width].
OutputRequest output_request(const DnnTorchModel &model, const Source &source,
                             at::IntArrayRef extents);

// The result of a run on grey pictures: the picture's shape, or all tensors with results=tensors.
struct Rehearsal {
    Shape picture = {};
    std::vector<HandedTensor> tensors = {};
};

// Runs the model once on grey pictures and returns the result.  A model without a binding is run
// with each binding that the options allow, until it takes one, which it then keeps.  If it takes
// none, throws the error of the likeliest.  Call it with lock_binding() held, unless has_binding().
Rehearsal run_and_choose_binding(DnnTorchModel &model, const Shape &shape, int threads);

// Returns the model's binding as one line for a record; or nullopt if it cannot be written so.
std::optional<std::string> binding_text(const DnnTorchModel &model);

// Sets the model's binding from such a line.  Returns false if the line makes no sense for this
// model, or if it has another binding already.
bool set_binding_by_text(DnnTorchModel &model, const std::string &text);

// Returns the model's source, after trying to find a binding with pictures no larger than those.
// Throws nothing that a run would not throw again.
std::shared_ptr<const Source> source_with_binding(DnnTorchModel &model, const Shape &shape);

} // namespace engine_torch
