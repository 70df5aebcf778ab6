// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Loads a model once for all callers that open the same file with the same options.
#pragma once

#include "model.h"

#include <chrono>
#include <memory>

namespace dnn_torch
{

// Any thread may call it.
//
// Users own a model while it is in use; the store does not.  When the last user releases it,
// the store keeps the model for the grace period, because a program may build the same graph
// again.  It keeps no more than a few models.  A thread closes them and ends with the last one.
// A model that was only described is closed when its file is opened with other options: one process
// may serve both.
//
// A file whose changes might be missed is not shared, see identity_of().
class ModelStore
{
public:
    explicit ModelStore(std::chrono::milliseconds grace);
    ModelStore(const ModelStore &) = delete;
    ModelStore &operator=(const ModelStore &) = delete;

    // Waits if another thread is loading that model.  If that load fails, throws the same
    // Error; the next call tries again.
    std::shared_ptr<Model> open(const DnnTorchEngine &engine, const ModelOptions &options);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// The store of this process.  A child of fork() gets an empty one.
ModelStore &model_store();

} // namespace dnn_torch
