// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "facts.h"

#include "verdict.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace dnn_torch
{
namespace
{

ProbeState state_of(const ProbeResult &result)
{
    return {.asked = true, .outcome = result.outcome, .detail = result.detail};
}

ProbeResult ask(const ProbePlaces &places, const std::vector<std::string> &arguments,
                std::chrono::milliseconds limit)
{
    if (places.probe.empty())
        return {.outcome = ProbeResult::Outcome::not_started,
                .records = {},
                .detail = std::generic_category().message(ENOENT)};
    return run_probe(places.probe, arguments, limit);
}

ZeDevice ze_device(const Record &record)
{
    return {.name = record.text("device"),
            .type = record.text("type"),
            .memory = record.number("memory"),
            .compute_units = record.number("compute_units"),
            .driver_version = record.text("driver_version"),
            .api_major = static_cast<int>(record.number("api_major")),
            .api_minor = static_cast<int>(record.number("api_minor"))};
}

// An unknown number counts as a device that does not work.
DnnTorchDeviceState state_of(const Record &record)
{
    long long number = record.number("state");
    bool known = number >= DNN_TORCH_DEVICE_USABLE && number <= DNN_TORCH_DEVICE_FAILED;
    return known ? static_cast<DnnTorchDeviceState>(number) : DNN_TORCH_DEVICE_FAILED;
}

EngineDevice engine_device(const Record &record)
{
    EngineDevice device = {.name = record.text("device"),
                           .description = record.text("description"),
                           .memory = record.number("memory"),
                           .state = state_of(record),
                           .reason = record.text("reason"),
                           .remedy = record.text("remedy")};
    if (!device.usable() && device.reason.empty())
        device.reason = "the engine gives no reason";
    return device;
}

EngineFacts ask_engine(const ProbePlaces &places, std::chrono::milliseconds limit)
{
    if (places.engine.empty())
        return {};
    return engine_facts(ask(places, {"engine", places.engine}, limit), places.engine);
}

LevelZeroFacts ask_level_zero(const ProbePlaces &places, std::chrono::milliseconds limit)
{
    return level_zero_facts(ask(places, {"level-zero"}, limit));
}

CudaFacts ask_cuda(const ProbePlaces &places, std::chrono::milliseconds limit)
{
    CudaFacts facts = cuda_facts(ask(places, {"cuda"}, limit));
    if (const char *visible = getenv("CUDA_VISIBLE_DEVICES"))
        facts.visible = visible;
    return facts;
}

struct Named {
    std::string name;
    int64_t memory;
};

void describe(const std::string &kind, const std::vector<Named> &named, Facts &facts)
{
    std::vector<EngineDevice *> listed;
    for (EngineDevice &device : facts.engine.devices)
        if (device.name.rfind(kind + ":", 0) == 0)
            listed.push_back(&device);
    for (size_t i = 0; listed.size() == named.size() && i < named.size(); i++) {
        if (listed[i]->description.empty())
            listed[i]->description = named[i].name;
        if (listed[i]->memory == 0)
            listed[i]->memory = named[i].memory;
    }
}

} // namespace

LevelZeroFacts level_zero_facts(const ProbeResult &result)
{
    LevelZeroFacts facts;
    facts.probe = state_of(result);
    for (const Record &record : result.records) {
        if (record.has("unsupported"))
            facts.supported = false;
        if (record.has("loader"))
            facts.loader = record.text("loader");
        if (record.has("loader_failure"))
            facts.loader_failure = record.text("loader_failure");
        if (record.has("driver_file"))
            facts.driver_files.push_back({.name = record.text("driver_file"),
                                          .present = record.number("present") != 0,
                                          .failure = record.text("failure")});
        if (record.has("init_failure")) {
            facts.init_failure = record.text("init_failure");
            facts.init_code = record.number("init_code");
        }
        if (record.has("drivers"))
            facts.drivers = static_cast<int>(record.number("drivers"));
        if (record.has("device"))
            facts.devices.push_back(ze_device(record));
    }
    return facts;
}

CudaFacts cuda_facts(const ProbeResult &result)
{
    CudaFacts facts;
    facts.probe = state_of(result);
    for (const Record &record : result.records) {
        if (record.has("library")) {
            facts.has_library = true;
            facts.library_failure = record.text("library_failure");
        }
        if (record.has("driver_version"))
            facts.driver_version = record.text("driver_version");
        if (record.has("init_failure")) {
            facts.init_failure = record.text("init_failure");
            facts.init_code = record.number("init_code");
        }
        if (record.has("device"))
            facts.devices.push_back(
                {.name = record.text("device"), .memory = record.number("memory")});
    }
    return facts;
}

void describe_devices(Facts &facts)
{
    std::vector<Named> cuda, xpu;
    for (const CudaDevice &device : facts.cuda.devices)
        cuda.push_back({.name = device.name, .memory = device.memory});
    for (const ZeDevice &device : facts.level_zero.devices)
        if (device.type == "gpu")
            xpu.push_back({.name = device.name, .memory = device.memory});
    describe("cuda", cuda, facts);
    describe("xpu", xpu, facts);
}

EngineFacts engine_facts(const ProbeResult &result, const std::string &engine_path)
{
    EngineFacts facts;
    facts.probe = state_of(result);
    facts.engine_path = engine_path;
    for (const Record &record : result.records) {
        if (record.has("failure"))
            facts.failure = record.text("failure");
        if (record.has("engine")) {
            facts.name = record.text("engine");
            facts.version = record.text("version");
            facts.onednn = record.text("onednn");
            facts.onednn_isa = record.text("onednn_isa");
            facts.openmp_threads = static_cast<int>(record.number("openmp_threads"));
            facts.lists_devices = record.number("lists_devices") != 0;
        }
        if (record.has("device"))
            facts.devices.push_back(engine_device(record));
    }
    return facts;
}

Facts gather_facts(const ProbePlaces &places, std::chrono::milliseconds limit)
{
    Facts facts{.cpu = cpu_info(),
                .files = find_device_files(),
                .level_zero = ask_level_zero(places, limit),
                .cuda = ask_cuda(places, limit),
                .engine = ask_engine(places, limit)};
    describe_devices(facts);
    return facts;
}

Facts gather_facts_for(const std::string &device, const ProbePlaces &places,
                       std::chrono::milliseconds limit)
{
    Facts facts;
    if (!needs_probe(device))
        return facts;
    facts.files = find_device_files();
    facts.engine = ask_engine(places, limit);
    if (needs_level_zero(device, facts.engine))
        facts.level_zero = ask_level_zero(places, limit);
    if (needs_cuda(device, facts.engine))
        facts.cuda = ask_cuda(places, limit);
    return facts;
}

} // namespace dnn_torch
