// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds and opens engines, and decides on which device and in which process one runs a model.
#pragma once

#include "model.h"

#include "dnn_torch/engine.h"

#include <string>

namespace dnn_torch
{

// Returns the path of an installed file of this project.  Returns "" if there is none; `places`
// then lists where it was looked for.
std::string find_module_file(const std::string &file_name, std::string &places);

// Returns the path of `engine-NAME.so`.  Throws Error if there is none.
std::string find_engine(const std::string &name);

// Opens an engine.  It stays open, because LibTorch cannot be unloaded.  Throws Error.
const DnnTorchEngine *open_engine(const std::string &name);

// The device for the option `device`.
struct DeviceChoice {
    std::string device;
    std::string why; // for the log; may be empty
};

// Asks another process, because a driver may hang or crash.
// Throws Error if the device cannot be used; its text says why and what to do.
DeviceChoice choose_device(const std::string &device, const std::string &engine);

// The values of the option `isolate`.
enum class Isolation {
    automatic = -1, // a separate process, if it is installed and the model runs on the CPU
    off = 0,        // this process
    on = 1,         // a separate process, sandboxed as far as the system allows
    required = 2,   // the same, but fails unless the process is fully sandboxed
};

struct EngineChoice {
    const DnnTorchEngine *engine = nullptr;
    std::string isolated;       // the engine that runs in a separate process; "" if none does
    std::string why_here;       // why isolate=auto chose this process; or ""
    bool is_incomplete = false; // because a part is missing without which there is no sandbox
};

// The engine that runs a model, as text.
struct RunningEngine {
    std::string name, version;
    std::string cage; // how its process is sandboxed; "" if it runs in this one
};

RunningEngine running_engine(const EngineChoice &choice, const Model &model);

// Throws Error.
EngineChoice choose_engine(const std::string &name, const std::string &device, Isolation isolation);

} // namespace dnn_torch
