// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One load for all who open the same file with the same options.
#pragma once

#include "model.h"

#include <chrono>
#include <memory>

namespace dnn_torch
{

// Any thread may call it.
//
// The store does not keep a model in use: its users do.  Once the last of them has let
// go, the store keeps the model for the grace, as a program may build the same graph
// again; but no more than a few models.  A thread that lives no longer than that closes it.
class ModelStore
{
public:
    explicit ModelStore(std::chrono::milliseconds grace);
    ModelStore(const ModelStore &) = delete;
    ModelStore &operator=(const ModelStore &) = delete;

    // Waits where another thread is loading that model, and then throws the same Error
    // as that one.  The next call tries again.
    std::shared_ptr<Model> open(const DnnTorchEngine &engine, const ModelOptions &options);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// The store of this process.  A child of fork() gets an empty one.
ModelStore &model_store();

} // namespace dnn_torch
