// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.h"

#include "base/compose.h"
#include "base/json.h"
#include "obstacle.h"
#include "verdict.h"

#include <algorithm>
#include <cstdio>

namespace dnn_torch
{
namespace
{

std::string size_text(int64_t bytes)
{
    char text[32];
    snprintf(text, sizeof(text), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
    return text;
}

std::string plural(long long count, const std::string &thing)
{
    return concat(count, " ", thing, count == 1 ? "" : "s");
}

std::string api_text(const ZeDevice &device)
{
    return concat(device.api_major, ".", device.api_minor);
}

std::string cores_text(const CpuInfo &cpu)
{
    std::string hyperthreads, nodes;
    if (cpu.physical_cores < cpu.allowed_cores)
        hyperthreads = concat(" of ", cpu.allowed_cores, " hyperthreads");
    if (cpu.nodes > 1)
        nodes = concat(" in ", cpu.nodes, " nodes");
    char quota[48] = "";
    if (cpu.quota_cores > 0)
        snprintf(quota, sizeof(quota), " (control group: time of %.3g)", cpu.quota_cores);
    return plural(static_cast<long long>(cpu.cores), "usable core") + hyperthreads + nodes + quota;
}

std::string what_it_is(const Verdict &verdict, const Facts &facts)
{
    std::vector<std::string> parts;
    if (!verdict.description.empty())
        parts.push_back(verdict.description);
    if (verdict.memory > 0)
        parts.push_back(size_text(verdict.memory));
    if (verdict.device == "cpu")
        parts.push_back(cores_text(facts.cpu));
    return parts.empty() ? verdict.usable ? "unknown" : "none" : joined(parts);
}

std::string why_not(const std::string &reason, const std::string &remedy, int indent)
{
    return std::string(static_cast<size_t>(indent), ' ') + reason +
           (remedy.empty() ? "" : "; " + remedy) + "\n";
}

std::string row(const std::string &device, const std::string &usable, const std::string &what)
{
    std::string line = device;
    line.resize(std::max<size_t>(line.size() + 1, 10), ' ');
    line += usable;
    line.resize(std::max<size_t>(line.size() + 1, 18), ' ');
    return line + what + "\n";
}

std::string cpu_section(const Facts &facts)
{
    const EngineFacts &engine = facts.engine;
    std::vector<std::string> parts;
    if (engine.openmp_threads > 0)
        parts.push_back("OpenMP of " + plural(engine.openmp_threads, "thread"));
    if (!engine.onednn.empty())
        parts.push_back("oneDNN " + engine.onednn +
                        (engine.onednn_isa.empty() ? "" : " for " + engine.onednn_isa));
    std::string text = "CPU: " + joined(facts.cpu.features) + "\n";
    if (engine.name.empty())
        return text;
    return text + engine.name + " " + engine.version + ": " +
           (parts.empty() ? "nothing known of oneDNN and OpenMP" : joined(parts)) + "\n";
}

std::string ze_device_text(const ZeDevice &device, const Facts &facts)
{
    Verdict verdict = level_zero_verdict(device, facts);
    std::string text = concat("  ", device.name, " (", device.type, "), ", size_text(device.memory),
                              ", ", plural(device.compute_units, "compute unit"), ", driver ",
                              device.driver_version, ", API ", api_text(device), ": ",
                              verdict.usable ? "usable, " + verdict.device : "not usable", "\n");
    return text + (verdict.usable ? "" : why_not(verdict.reason, verdict.remedy, 4));
}

std::string level_zero_section(const Facts &facts)
{
    const LevelZeroFacts &level_zero = facts.level_zero;
    std::string text =
        "Level Zero: " + (level_zero.loader.empty() ? "no loader" : level_zero.loader) + ", " +
        plural(level_zero.drivers, "driver") + ", " +
        plural(static_cast<long long>(level_zero.devices.size()), "device") + "\n";
    if (Obstacle obstacle = level_zero_obstacle(facts))
        text += why_not(obstacle.reason, obstacle.remedy, 2);
    for (const ZeDevice &device : level_zero.devices)
        text += ze_device_text(device, facts);
    return text;
}

std::string cuda_section(const CudaFacts &cuda)
{
    Obstacle obstacle = cuda_driver_obstacle(cuda);
    std::string text = "NVIDIA: no driver\n";
    if (cuda.has_library)
        text = "NVIDIA: driver for CUDA " +
               (cuda.driver_version.empty() ? "unknown" : cuda.driver_version) + ", " +
               plural(static_cast<long long>(cuda.devices.size()), "device") + "\n";
    return text + (obstacle ? why_not(obstacle.reason, obstacle.remedy, 2) : "");
}

json::Value cuda_json(const CudaFacts &cuda)
{
    Obstacle obstacle = cuda_driver_obstacle(cuda);
    json::Value devices = json::Value::array();
    for (const CudaDevice &device : cuda.devices)
        devices.push_back({{"name", device.name}, {"memory_bytes", device.memory}});
    return {{"driver", cuda.has_library},
            {"cuda_version", json::text_or_null(cuda.driver_version)},
            {"devices", devices},
            {"reason", json::text_or_null(obstacle.reason)},
            {"remedy", json::text_or_null(obstacle.remedy)}};
}

json::Value verdict_json(const Verdict &verdict)
{
    return {{"device", verdict.device},
            {"description", json::text_or_null(verdict.description)},
            {"memory_bytes", verdict.memory},
            {"usable", verdict.usable},
            {"reason", json::text_or_null(verdict.reason)},
            {"remedy", json::text_or_null(verdict.remedy)}};
}

json::Value cpu_json(const CpuInfo &cpu)
{
    return {{"model", cpu.model},
            {"usable_cores", cpu.cores},
            {"allowed_cores", cpu.allowed_cores},
            {"physical_cores", cpu.physical_cores},
            {"nodes", cpu.nodes},
            {"quota_cores", json::rounded(cpu.quota_cores, 4)},
            {"features", cpu.features}};
}

json::Value engine_json(const EngineFacts &engine)
{
    return {{"path", json::text_or_null(engine.engine_path)},
            {"name", json::text_or_null(engine.name)},
            {"version", json::text_or_null(engine.version)},
            {"onednn", json::text_or_null(engine.onednn)},
            {"onednn_instructions", json::text_or_null(engine.onednn_isa)},
            {"openmp_threads", engine.openmp_threads}};
}

json::Value ze_device_json(const ZeDevice &device, const Facts &facts)
{
    Verdict verdict = level_zero_verdict(device, facts);
    return {{"name", device.name},
            {"type", device.type},
            {"memory_bytes", device.memory},
            {"compute_units", device.compute_units},
            {"driver_version", json::text_or_null(device.driver_version)},
            {"api_version", api_text(device)},
            {"usable", verdict.usable},
            {"device", json::text_or_null(verdict.device)},
            {"reason", json::text_or_null(verdict.reason)},
            {"remedy", json::text_or_null(verdict.remedy)}};
}

json::Value level_zero_json(const Facts &facts)
{
    Obstacle obstacle = level_zero_obstacle(facts);
    json::Value devices = json::Value::array();
    for (const ZeDevice &device : facts.level_zero.devices)
        devices.push_back(ze_device_json(device, facts));
    return {{"loader", json::text_or_null(facts.level_zero.loader)},
            {"drivers", facts.level_zero.drivers},
            {"devices", devices},
            {"reason", json::text_or_null(obstacle.reason)},
            {"remedy", json::text_or_null(obstacle.remedy)}};
}

json::Value files_json(const std::vector<DeviceFile> &files)
{
    json::Value all = json::Value::array();
    for (const DeviceFile &file : files)
        all.push_back({{"path", file.path}, {"permitted", file.permitted}});
    return all;
}

} // namespace

std::string devices_table(const Facts &facts)
{
    std::string text = row("DEVICE", "USABLE", "WHAT IT IS");
    for (const Verdict &verdict : all_verdicts(facts)) {
        text += row(verdict.device, verdict.usable ? "yes" : "no", what_it_is(verdict, facts));
        if (!verdict.usable)
            text += why_not(verdict.reason, verdict.remedy, 10);
    }
    return text + "\n" + cpu_section(facts) + cuda_section(facts.cuda) + level_zero_section(facts);
}

std::string devices_json(const Facts &facts)
{
    json::Value devices = json::Value::array();
    for (const Verdict &verdict : all_verdicts(facts))
        devices.push_back(verdict_json(verdict));
    json::Value all = {{"devices", devices},
                       {"auto", verdict_for("auto", facts).device},
                       {"cpu", cpu_json(facts.cpu)},
                       {"engine", engine_json(facts.engine)},
                       {"nvidia", cuda_json(facts.cuda)},
                       {"level_zero", level_zero_json(facts)},
                       {"device_files", files_json(facts.files)}};
    return json::line_of(all) + "\n";
}

} // namespace dnn_torch
