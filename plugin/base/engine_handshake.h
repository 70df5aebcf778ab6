// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Gets an engine's table from an opened shared object.
#pragma once

#include "dnn_torch/engine.h"

#include <dlfcn.h>
#include <string>

namespace dnn_torch
{

struct EngineGreeting {
    const DnnTorchEngine *engine; // null: it cannot serve this build
    std::string fault;            // the reason; follows the engine's name
};

// `library` is the result of dlopen().
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
