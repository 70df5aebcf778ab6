// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine_choice.h"

#include "engine_library.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

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

// Returns why isolate=auto leaves the model in this process, or "".
std::string reason_to_stay(const std::string &device)
{
    // The driver's pinned memory for copies to a device cannot be shared with another process.
    if (device != "cpu")
        return "isolate=auto keeps models of a GPU there";
    return missing_part();
}

} // namespace

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
    std::string reason;
    if (isolation == Isolation::automatic)
        reason = reason_to_stay(device);
    if (isolation == Isolation::off || !reason.empty())
        return {.engine = open_engine(name),
                .isolated = "",
                .remark = reason.empty() ? "" : "the model runs in this process: " + reason};
    if (std::string missing = missing_part(); !missing.empty())
        throw Error(AVERROR(ENOENT), missing + "; isolate=0 runs the model in this process");
    find_engine(name);
    return {.engine = open_engine(proxy), .isolated = name, .remark = ""};
}

} // namespace dnn_torch
