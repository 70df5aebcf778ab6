// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine_library.h"

#include "base/engine_handshake.h"
#include "base/module_path.h"
#include "host/error.h"
#include "host/workers/engine_call.h"
#include "host/workers/held_signals.h"

extern "C" {
#include <libavutil/error.h>
}

#include <climits>
#include <dlfcn.h>
#include <mutex>

namespace dnn_torch
{
namespace
{

// LibTorch's constructors register hundreds of handlers for exit().  If a signal handler called
// exit() meanwhile, those registered so far would run concurrently with the constructors.
void *open_library(const std::string &path)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    HeldSignals held;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        throw Error(AVERROR_EXTERNAL, std::string("the engine cannot be loaded: ") + dlerror());
    watch_exit();
    return library;
}

} // namespace

std::string find_module_file(const std::string &file_name, std::string &places)
{
    char path[PATH_MAX];
    bool found = dnn_torch_find_module(reinterpret_cast<const void *>(&open_engine),
                                       file_name.c_str(), path, sizeof(path));
    places = found ? "" : path;
    return found ? path : "";
}

std::string find_engine(const std::string &name)
{
    if (name.empty() || name.find('/') != std::string::npos)
        throw Error(AVERROR(EINVAL), "'" + name + "' is no engine's name; try engine=torch");
    std::string file_name = "engine-" + name + ".so", places;
    std::string path = find_module_file(file_name, places);
    if (path.empty())
        throw Error(AVERROR(ENOENT), "there is no " + file_name + " in " + places +
                                         "; choose another engine or install that one");
    return path;
}

const DnnTorchEngine *open_engine(const std::string &name)
{
    EngineGreeting greeting = greet_engine(open_library(find_engine(name)));
    if (!greeting.engine)
        throw Error(AVERROR_EXTERNAL, "engine-" + name + ".so " + greeting.fault);
    return greeting.engine;
}

} // namespace dnn_torch
