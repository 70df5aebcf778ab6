// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides in which process an engine runs a model.
#pragma once

#include "model.h"

#include "dnn_torch/engine.h"

#include <string>

namespace dnn_torch
{

// The values of the option `isolate`.
enum class Isolation {
    automatic = -1, // a process of its own, if it is installed and the model runs on the CPU
    off = 0,        // this process
    on = 1,         // a process of its own, closed in as far as the system allows
    required = 2,   // the same, but fails if the system does not grant all of it
};

struct EngineChoice {
    const DnnTorchEngine *engine = nullptr;
    std::string isolated; // the engine that runs in a process of its own; "" if none does
    std::string remark;   // why it runs in this process although nobody asked for that; or ""
};

// What runs a model, in words.
struct RunningEngine {
    std::string name, version;
    std::string cage; // how its process is closed in; "" if it runs in this one
};

RunningEngine running_engine(const EngineChoice &choice, const Model &model);

// Throws Error.
EngineChoice choose_engine(const std::string &name, const std::string &device, Isolation isolation);

} // namespace dnn_torch
