// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opened_engine.h"

#include "base/compose.h"
#include "base/engine_handshake.h"
#include "base/module_path.h"
#include "engine_kit/failure.h"

#include <climits>
#include <dlfcn.h>
#include <filesystem>
#include <sys/resource.h>

namespace isolation
{
namespace
{

using engine_kit::Failure;

std::string find_engine(const std::string &name)
{
    if (name.empty() || name.find('/') != std::string::npos)
        throw Failure(DNN_TORCH_BAD_OPTION, "'" + name + "' is no engine's name; try engine=torch");
    const std::string file_name = "engine-" + name + ".so";
    char path[PATH_MAX];
    if (!dnn_torch_find_module(reinterpret_cast<const void *>(&open_engine), file_name.c_str(),
                               path, sizeof path))
        throw Failure(DNN_TORCH_NO_FILE, "there is no " + file_name + " in " + path +
                                             "; choose another engine or install that one");
    return path;
}

// What an engine is linked with and does not use has an empty library of its name in this folder:
// once that is open, the dynamic linker loads no other.
void open_empty_libraries(const std::filesystem::path &engine)
{
    const auto folder = engine.parent_path() / (engine.stem().string() + "-unused");
    std::error_code is_missing;
    for (const auto &each : std::filesystem::directory_iterator(folder, is_missing))
        dlopen(each.path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// A library that finds no room is told by the dynamic linker in words that name no limit.
std::string words_on_address_space()
{
    rlimit limit = {};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return "";
    return dnn_torch::concat("; this process may have ", limit.rlim_cur >> 20,
                             " MiB of addresses: raise that (ulimit -v)");
}

} // namespace

const DnnTorchEngine &open_engine(const std::string &name)
{
    const std::string path = find_engine(name);
    open_empty_libraries(path);
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        throw Failure(DNN_TORCH_RUN_FAILED, dnn_torch::concat("the engine cannot be loaded: ",
                                                              dlerror(), words_on_address_space()));
    const dnn_torch::EngineGreeting greeting = dnn_torch::greet_engine(library);
    if (!greeting.engine)
        throw Failure(DNN_TORCH_RUN_FAILED, "engine-" + name + ".so " + greeting.fault);
    return *greeting.engine;
}

} // namespace isolation
