// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// From an opened shared object to an engine's table.
#pragma once

#include "dnn_torch/engine.h"

#include <dlfcn.h>
#include <string>

namespace dnn_torch
{

struct EngineGreeting {
    const DnnTorchEngine *engine; // null: it serves no host of this build
    std::string fault;            // why, behind the engine's name
};

// `library` is what dlopen() returned.
inline EngineGreeting greet_engine(void *library)
{
    auto *entry =
        reinterpret_cast<DnnTorchEngineFunction *>(dlsym(library, DNN_TORCH_ENGINE_SYMBOL));
    if (!entry)
        return {.engine = nullptr, .fault = "is no engine: it lacks " DNN_TORCH_ENGINE_SYMBOL "()"};
    const DnnTorchEngine *engine = entry(DNN_TORCH_ENGINE_ABI);
    if (engine && engine->abi == DNN_TORCH_ENGINE_ABI) {
        if (engine->size >= sizeof(DnnTorchEngine))
            return {.engine = engine, .fault = ""};
        return {.engine = nullptr,
                .fault = "has a table that is too short; install the engine and the filters from "
                         "one release"};
    }
    std::string spoken = engine ? std::to_string(engine->abi) + " and not " : "other than ";
    return {.engine = nullptr,
            .fault = "speaks engine ABI " + spoken + std::to_string(DNN_TORCH_ENGINE_ABI) +
                     "; install the engine and the filters from one release"};
}

} // namespace dnn_torch
