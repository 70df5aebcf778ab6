// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Settles how a model gets its pictures and which tensor comes back, by trying.
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

// What a run on grey pictures gave: the picture's shape, or all tensors if the model returns those.
struct Rehearsal {
    Shape picture = {};
    std::vector<HandedTensor> tensors = {};
};

// Runs the model once on grey pictures, as it is settled, and returns what comes out.  A model that
// is not settled yet is run in each way that the options allow, until it takes one, and is settled
// then.  If it takes none, throws what it threw at the likeliest.  Call it with the model's
// lock_settling() held, unless the model is settled.
Rehearsal run_and_settle(DnnTorchModel &model, const Shape &shape, int threads);

// How a settled model is run, as one line for a record; or nullopt if it makes no such line.
std::optional<std::string> settled_text(const DnnTorchModel &model);

// Settles the model by such a line.  Returns false if it makes no sense for this model, or if that
// is settled in another way.
bool settle_by_text(DnnTorchModel &model, const std::string &text);

// Returns the model's source, after trying to settle the model with pictures no larger than those.
// Throws nothing that a run would not throw again.
std::shared_ptr<const Source> settled_source(DnnTorchModel &model, const Shape &shape);

} // namespace engine_torch
