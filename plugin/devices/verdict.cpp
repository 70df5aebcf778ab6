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

std::string library_of(const TorchFacts &torch)
{
    return torch.name.empty() ? "LibTorch" : torch.name + " " + torch.version;
}

const TorchDevice *find_entry(const TorchFacts &torch, const std::string &name)
{
    for (const TorchDevice &device : torch.devices)
        if (device.name == name)
            return &device;
    return nullptr;
}

std::vector<const TorchDevice *> devices_of(const TorchFacts &torch, const std::string &kind)
{
    std::vector<const TorchDevice *> found;
    for (const TorchDevice &device : torch.devices)
        if (device.name.compare(0, kind.size() + 1, kind + ":") == 0)
            found.push_back(&device);
    return found;
}

// Returns whether LibTorch was built for this kind but found no device.
bool could_have(const std::string &kind, const TorchFacts &torch)
{
    if (engine_obstacle(torch) || !torch.lists_devices)
        return false;
    const TorchDevice *entry = find_entry(torch, kind);
    return devices_of(torch, kind).empty() &&
           !(entry && entry->state == DNN_TORCH_DEVICE_BUILT_WITHOUT);
}

Obstacle built_without(const std::string &kind, const std::string &reason)
{
    if (kind == "cuda")
        return {.reason = reason,
                .remedy = "use a LibTorch that was built with CUDA or ROCm, such as pytorch.org's; "
                          "Debian's is not"};
    return {.reason = reason,
            .remedy = "use a LibTorch from 2.5 on that was built with XPU support, such as "
                      "pytorch.org's for Intel GPUs; Debian's is not"};
}

// Says why there is no device of this kind.
Obstacle kind_obstacle(const std::string &kind, const Facts &facts)
{
    const TorchFacts &torch = facts.torch;
    if (Obstacle obstacle = engine_obstacle(torch))
        return obstacle;
    if (!torch.lists_devices)
        return {.reason = "the engine " + library_of(torch) + " runs on the CPU alone",
                .remedy = "choose device=cpu"};
    const TorchDevice *entry = find_entry(torch, kind);
    std::string reason = entry && !entry->reason.empty()
                             ? entry->reason
                             : library_of(torch) + " lists no " + kind + " device";
    if (entry && entry->state == DNN_TORCH_DEVICE_BUILT_WITHOUT)
        return built_without(kind, reason);
    if (entry && entry->state == DNN_TORCH_DEVICE_LIBRARY_BROKEN)
        return {.reason = reason, .remedy = "install LibTorch again, with all that it depends on"};
    if (kind == "cuda")
        return cuda_obstacle(facts, reason);
    if (Obstacle obstacle = level_zero_obstacle(facts))
        return obstacle;
    return {.reason = reason, .remedy = "see that the driver and this LibTorch go together"};
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

Verdict verdict_of(const TorchDevice &device)
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
    if (!engine_obstacle(facts.torch))
        for (const TorchDevice *device : devices_of(facts.torch, kind))
            verdicts.push_back(verdict_of(*device));
    if (verdicts.empty())
        verdicts.push_back(refused(kind, kind_obstacle(kind, facts)));
    return verdicts;
}

Verdict cpu_verdict(const Facts &facts)
{
    Obstacle obstacle = engine_obstacle(facts.torch);
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

// Chooses the first usable device, like LibTorch, where "cuda" means the first one.
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
        // A failure of LibTorch is the same for both kinds, so it is reported once.
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
        obstacle = {.reason = "LibTorch runs models on GPUs alone", .remedy = {}};
    else if (is_too_old(device))
        obstacle = version_obstacle(device);
    else if (listed.front().device != "xpu")
        obstacle = {.reason = library_of(facts.torch) + " does not list it",
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

bool needs_level_zero(const std::string &device, const TorchFacts &torch)
{
    return kind_of(device) == "xpu" && could_have("xpu", torch);
}

bool needs_cuda(const std::string &device, const TorchFacts &torch)
{
    return kind_of(device) == "cuda" && could_have("cuda", torch);
}

} // namespace dnn_torch
