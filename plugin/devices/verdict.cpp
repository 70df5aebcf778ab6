// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verdict.h"

#include "base/compose.h"
#include "base/device_name.h"
#include "obstacle.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace dnn_torch
{
namespace
{

constexpr const char *syntax = "give cpu, cuda, cuda:N, xpu, xpu:N or auto";

// In the order in which auto tries them.
constexpr const char *accelerators[] = {"cuda", "xpu"};

bool is_accelerator(const std::string &kind)
{
    return std::find(std::begin(accelerators), std::end(accelerators), kind) !=
           std::end(accelerators);
}

std::string kind_of(const std::string &device)
{
    return device.substr(0, device.find(':'));
}

bool is_well_formed(const std::string &device)
{
    return parse_device_name(device) && is_accelerator(kind_of(device));
}

std::string library_of(const EngineFacts &engine)
{
    return engine.name.empty() ? name_of(engine) : engine.name + " " + engine.version;
}

const EngineDevice *find_entry(const EngineFacts &engine, const std::string &name)
{
    for (const EngineDevice &device : engine.devices)
        if (device.name == name)
            return &device;
    return nullptr;
}

std::vector<const EngineDevice *> devices_of(const EngineFacts &engine, const std::string &kind)
{
    std::vector<const EngineDevice *> found;
    for (const EngineDevice &device : engine.devices)
        if (device.name.compare(0, kind.size() + 1, kind + ":") == 0)
            found.push_back(&device);
    return found;
}

// Returns whether the engine's library was built for this kind but found no device.
bool could_have(const std::string &kind, const EngineFacts &engine)
{
    if (engine_obstacle(engine) || !engine.lists_devices)
        return false;
    const EngineDevice *entry = find_entry(engine, kind);
    return devices_of(engine, kind).empty() &&
           !(entry && entry->state == DNN_TORCH_DEVICE_BUILT_WITHOUT);
}

// Says what the engine itself knows about a missing device.
Obstacle library_obstacle(const EngineDevice &entry, const std::string &reason,
                          const std::string &remedy)
{
    return {.reason = reason, .remedy = entry.remedy.empty() ? remedy : entry.remedy};
}

// Says why there is no device of this kind.
Obstacle kind_obstacle(const std::string &kind, const Facts &facts)
{
    const EngineFacts &engine = facts.engine;
    if (Obstacle obstacle = engine_obstacle(engine))
        return obstacle;
    if (!engine.lists_devices)
        return {.reason = "the engine " + library_of(engine) + " runs on the CPU alone",
                .remedy = "choose device=cpu"};
    const EngineDevice *entry = find_entry(engine, kind);
    std::string reason = entry && !entry->reason.empty()
                             ? entry->reason
                             : library_of(engine) + " lists no " + kind + " device";
    if (entry && entry->state == DNN_TORCH_DEVICE_BUILT_WITHOUT)
        return library_obstacle(*entry, reason,
                                concat("use a build of ", name_of(engine), " with ", kind));
    if (entry && entry->state == DNN_TORCH_DEVICE_LIBRARY_BROKEN)
        return library_obstacle(
            *entry, reason,
            concat("install ", name_of(engine), " again, with all that it depends on"));
    if (kind == "cuda")
        return cuda_obstacle(facts, reason);
    if (Obstacle obstacle = level_zero_obstacle(facts))
        return obstacle;
    return {.reason = reason,
            .remedy = concat("see that the driver and this ", name_of(engine), " go together")};
}

Verdict refused(const std::string &device, const Obstacle &obstacle)
{
    return {.device = device,
            .description = {},
            .memory = 0,
            .usable = false,
            .reason = obstacle.reason,
            .remedy = obstacle.remedy};
}

Verdict verdict_of(const EngineDevice &device)
{
    std::string remedy = device.usable() ? "" : "choose another device";
    return {.device = device.name,
            .description = device.description,
            .memory = device.memory,
            .usable = device.usable(),
            .reason = device.reason,
            .remedy = remedy};
}

std::vector<Verdict> verdicts_of_kind(const std::string &kind, const Facts &facts)
{
    std::vector<Verdict> verdicts;
    if (!engine_obstacle(facts.engine))
        for (const EngineDevice *device : devices_of(facts.engine, kind))
            verdicts.push_back(verdict_of(*device));
    if (verdicts.empty())
        verdicts.push_back(refused(kind, kind_obstacle(kind, facts)));
    return verdicts;
}

Verdict cpu_verdict(const Facts &facts)
{
    Obstacle obstacle = engine_obstacle(facts.engine);
    return {.device = "cpu",
            .description = facts.cpu.model,
            .memory = 0,
            .usable = !obstacle,
            .reason = obstacle.reason,
            .remedy = obstacle.remedy};
}

std::string names_of(const std::vector<Verdict> &verdicts)
{
    std::string names;
    for (const Verdict &verdict : verdicts)
        add_to_list(names, verdict.device);
    return names;
}

Verdict numbered_verdict(const std::string &device, const Facts &facts)
{
    std::vector<Verdict> verdicts = verdicts_of_kind(kind_of(device), facts);
    if (verdicts.front().device == kind_of(device))
        return refused(device,
                       {.reason = verdicts.front().reason, .remedy = verdicts.front().remedy});
    for (const Verdict &verdict : verdicts)
        if (verdict.device == device)
            return verdict;
    return refused(device, {.reason = "there is no " + device,
                            .remedy = "choose one of " + names_of(verdicts)});
}

// Chooses the first usable device, like the engines, where "cuda" means the first one.
Verdict kind_verdict(const std::string &kind, const Facts &facts)
{
    std::vector<Verdict> verdicts = verdicts_of_kind(kind, facts);
    for (const Verdict &verdict : verdicts)
        if (verdict.usable)
            return verdict;
    return verdicts.front();
}

Verdict best_verdict(const Facts &facts)
{
    std::string misses;
    for (const char *kind : accelerators) {
        Verdict verdict = kind_verdict(kind, facts);
        if (verdict.usable) {
            verdict.reason = "auto: " + verdict.device + " is the first device that is usable";
            return verdict;
        }
        // A failure of the engine is the same for both kinds, so it is reported once.
        if (misses.find(verdict.reason) == misses.npos)
            add_to_list(misses, verdict.device + ": " + verdict.reason, "; ");
    }
    return {.device = "cpu",
            .description = {},
            .memory = 0,
            .usable = true,
            .reason = "auto: cpu, for no other device is usable (" + misses + ")",
            .remedy = {}};
}

} // namespace

std::vector<Verdict> all_verdicts(const Facts &facts)
{
    std::vector<Verdict> verdicts{cpu_verdict(facts)};
    for (const char *kind : accelerators)
        for (Verdict &verdict : verdicts_of_kind(kind, facts))
            verdicts.push_back(std::move(verdict));
    return verdicts;
}

Verdict verdict_for(const std::string &device, const Facts &facts)
{
    // If the engine is broken, opening it says so.
    if (device.empty() || device == "cpu")
        return {.device = "cpu",
                .description = facts.cpu.model,
                .memory = 0,
                .usable = true,
                .reason = {},
                .remedy = {}};
    if (device == "auto")
        return best_verdict(facts);
    if (!is_well_formed(device))
        return refused(device, {.reason = "'" + device + "' is no device", .remedy = syntax});
    return is_accelerator(device) ? kind_verdict(device, facts) : numbered_verdict(device, facts);
}

Verdict level_zero_verdict(const ZeDevice &device, const Facts &facts)
{
    Verdict verdict{.device = {},
                    .description = device.name,
                    .memory = device.memory,
                    .usable = false,
                    .reason = {},
                    .remedy = {}};
    std::vector<Verdict> listed = verdicts_of_kind("xpu", facts);
    for (const Verdict &candidate : listed)
        if (candidate.usable && candidate.description.find(device.name) != std::string::npos)
            return candidate;
    Obstacle obstacle{.reason = listed.front().reason, .remedy = listed.front().remedy};
    if (device.type != "gpu")
        obstacle = {.reason = name_of(facts.engine) + " runs models on GPUs alone", .remedy = {}};
    else if (is_too_old(device))
        obstacle = version_obstacle(device);
    else if (listed.front().device != "xpu")
        obstacle = {.reason = library_of(facts.engine) + " does not list it",
                    .remedy = "see its own settings, such as "
                              "ONEAPI_DEVICE_SELECTOR"};
    verdict.reason = obstacle.reason;
    verdict.remedy = obstacle.remedy;
    return verdict;
}

bool needs_probe(const std::string &device)
{
    return device == "auto" || is_well_formed(device);
}

bool needs_level_zero(const std::string &device, const EngineFacts &engine)
{
    return kind_of(device) == "xpu" && could_have("xpu", engine);
}

bool needs_cuda(const std::string &device, const EngineFacts &engine)
{
    return kind_of(device) == "cuda" && could_have("cuda", engine);
}

} // namespace dnn_torch
