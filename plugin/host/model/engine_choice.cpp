// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine_choice.h"

#include "base/engine_handshake.h"
#include "base/module_path.h"
#include "devices/verdict.h"
#include "host/error.h"
#include "host/workers/engine_call.h"
#include "host/workers/held_signals.h"
#include "host/workers/time_limit.h"

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

constexpr char proxy[] = "isolated", program[] = "engine-host";

// Returns the missing file without which no separate process can run, or "".
std::string missing_part()
{
    std::string places;
    for (const std::string &file : {"engine-" + std::string(proxy) + ".so", std::string(program)})
        if (find_module_file(file, places).empty())
            return "there is no " + file + " in " + places;
    return "";
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

DeviceChoice choose_device(const std::string &device, const std::string &engine)
{
    // No driver is asked for the CPU, or for a word that is not a device.
    Facts facts;
    if (std::string places; needs_probe(device)) {
        const ProbePlaces programs = {find_module_file("device-probe", places),
                                      find_engine(engine)};
        const NowDoing now("asking the drivers for " + device);
        facts = value_within({.most = {}, .line = ""},
                             [=] { return gather_facts_for(device, programs); });
    }
    Verdict verdict = verdict_for(device, facts);
    if (!verdict.usable)
        throw Error(AVERROR(ENODEV), "device=" + device + " cannot be used: " + verdict.reason +
                                         (verdict.remedy.empty() ? "" : "; ") + verdict.remedy);
    return {verdict.device, verdict.reason};
}

RunningEngine running_engine(const EngineChoice &choice, const Model &model)
{
    if (choice.isolated.empty())
        return {.name = choice.engine->name, .version = choice.engine->version, .cage = ""};
    return {.name = model.metadata("engine_name"),
            .version = model.metadata("engine_version"),
            .cage = model.metadata("cage")};
}

EngineChoice choose_engine(const std::string &name, const std::string &device, Isolation isolation)
{
    if (name == proxy)
        throw Error(AVERROR(EINVAL), "engine=isolated runs nothing by itself; write isolate=1, and "
                                     "engine=NAME for the engine that is to run the model");
    EngineChoice here;
    // The driver's pinned memory for copies to a device cannot be shared with another process.
    if (isolation == Isolation::automatic && device != "cpu")
        here.why_here = "the model runs in this process: isolate=auto keeps models of a GPU there";
    if (isolation == Isolation::off || !here.why_here.empty()) {
        here.engine = open_engine(name);
        return here;
    }
    const std::string missing = missing_part();
    if (missing.empty()) {
        find_engine(name);
        return {.engine = open_engine(proxy), .isolated = name};
    }
    if (isolation != Isolation::automatic)
        throw Error(AVERROR(ENOENT), missing + "; isolate=0 runs the model in this process");
    here.engine = open_engine(name);
    here.is_incomplete = true;
    here.why_here = "the model runs in this process, without a sandbox: " + missing +
                    "; install it again, or write isolate=0 if you trust the model";
    return here;
}

} // namespace dnn_torch
