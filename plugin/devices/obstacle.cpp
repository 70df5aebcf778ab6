// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "obstacle.h"

#include "base/compose.h"

#include <algorithm>
#include <initializer_list>

namespace dnn_torch
{
namespace
{

using Outcome = ProbeResult::Outcome;

// ZE_RESULT_ERROR_UNINITIALIZED, with which Intel's driver says that it has no device.
constexpr int64_t ze_uninitialized = 0x78000001;
// CUDA_ERROR_NO_DEVICE and CUDA_ERROR_SYSTEM_DRIVER_MISMATCH.
constexpr int64_t cuda_no_device = 100, cuda_driver_mismatch = 803;

constexpr const char *update_ze_driver =
    "update the driver (libze-intel-gpu1, or Intel's own package) and look at the kernel's log";

const DeviceFile *first_denied(const Facts &facts, std::initializer_list<Vendor> vendors)
{
    for (const DeviceFile &file : facts.files)
        if (!file.permitted &&
            std::find(vendors.begin(), vendors.end(), file.vendor) != vendors.end())
            return &file;
    return nullptr;
}

bool has_files(const Facts &facts, std::initializer_list<Vendor> vendors)
{
    return std::any_of(facts.files.begin(), facts.files.end(), [&](const DeviceFile &file) {
        return std::find(vendors.begin(), vendors.end(), file.vendor) != vendors.end();
    });
}

Obstacle no_permission(const DeviceFile &file)
{
    std::string group = file.vendor == Vendor::nvidia ? "video" : "render";
    return {.reason = "no permission for " + file.path,
            .remedy =
                "run 'adduser NAME " + group + "' as root, with your user name, and log in again"};
}

Obstacle not_started(const ProbeState &probe)
{
    return {.reason = "device-probe cannot be started: " + probe.detail,
            .remedy = "install ffmpeg-dnn-torch again, all of it"};
}

Obstacle level_zero_probe_obstacle(const ProbeState &probe)
{
    switch (probe.outcome) {
    case Outcome::not_started:
        return not_started(probe);
    case Outcome::crashed:
        return {.reason = "the Level Zero driver crashes when it is asked (" + probe.detail + ")",
                .remedy = update_ze_driver};
    case Outcome::out_of_time:
        return {.reason = "the Level Zero driver does not answer within " + probe.detail,
                .remedy = update_ze_driver};
    case Outcome::finished:
        break;
    }
    return {};
}

Obstacle driver_file_obstacle(const LevelZeroFacts &level_zero)
{
    const ZeDriverFile *broken = nullptr;
    for (const ZeDriverFile &file : level_zero.driver_files) {
        if (file.present && file.failure.empty())
            return {};
        if (file.present)
            broken = &file;
    }
    if (broken)
        return {.reason = "the Level Zero driver cannot be loaded: " + broken->failure,
                .remedy = "install it again, with all that it depends on"};
    return {
        .reason = "the Level Zero loader finds no driver",
        .remedy =
            "install Intel's driver: libze-intel-gpu1 in Debian sid, from Intel's own repository "
            "for Debian 12 and 13"};
}

Obstacle no_ze_device(const Facts &facts)
{
    std::string answer = facts.level_zero.init_failure;
    std::string addition = answer.empty() ? "" : " (it says " + answer + ")";
    if (has_files(facts, {Vendor::intel}))
        return {.reason = "the Level Zero driver finds no device" + addition +
                          ", though the kernel shows an Intel GPU",
                .remedy = update_ze_driver};
    return {
        .reason = "the Level Zero driver finds no device" + addition,
        .remedy =
            "where there is an Intel GPU, see that the kernel drives it: /dev/dri/renderD* is then "
            "there"};
}

} // namespace

std::string name_of(const EngineFacts &engine)
{
    return engine.name.empty() ? "the engine" : engine.name;
}

Obstacle engine_obstacle(const EngineFacts &engine)
{
    const char *without_gpu = "update the driver of the GPU, or choose device=cpu";
    if (engine.engine_path.empty())
        return {.reason = "no engine is installed",
                .remedy = "install the LibTorch engine (engine-torch.so)"};
    if (engine.probe.outcome == Outcome::not_started)
        return not_started(engine.probe);
    if (engine.probe.outcome == Outcome::crashed)
        return {.reason = name_of(engine) + " crashes when it is asked for its devices (" +
                          engine.probe.detail + ")",
                .remedy = without_gpu};
    if (engine.probe.outcome == Outcome::out_of_time)
        return {.reason =
                    name_of(engine) + " does not tell its devices within " + engine.probe.detail,
                .remedy = without_gpu};
    if (!engine.failure.empty())
        return {.reason = "the engine cannot be loaded: " + engine.failure,
                .remedy = "install the engine, its library and the filters from one release"};
    return {};
}

bool is_too_old(const ZeDevice &device)
{
    return device.api_major < oldest_ze_major ||
           (device.api_major == oldest_ze_major && device.api_minor < oldest_ze_minor);
}

Obstacle version_obstacle(const ZeDevice &device)
{
    return {.reason =
                concat("the driver speaks Level Zero ", device.api_major, ".", device.api_minor,
                       ", which is older than ", oldest_ze_major, ".", oldest_ze_minor),
            .remedy = "update the driver (libze-intel-gpu1, or Intel's own package)"};
}

Obstacle level_zero_obstacle(const Facts &facts)
{
    const LevelZeroFacts &level_zero = facts.level_zero;
    if (!level_zero.probe.asked)
        return {};
    if (Obstacle obstacle = level_zero_probe_obstacle(level_zero.probe))
        return obstacle;
    if (!level_zero.supported)
        return {.reason = "this device-probe was built without Level Zero",
                .remedy = "build it where libze-dev is installed"};
    if (!level_zero.loader_failure.empty())
        return {.reason = "the Level Zero loader cannot be loaded: " + level_zero.loader_failure,
                .remedy = "install libze1 again"};
    if (level_zero.loader.empty())
        return {.reason = "there is no Level Zero loader",
                .remedy = "install libze1, if there is an Intel GPU"};
    const std::vector<ZeDevice> &devices = level_zero.devices;
    if (!devices.empty())
        return std::all_of(devices.begin(), devices.end(), is_too_old)
                   ? version_obstacle(devices.front())
                   : Obstacle{};
    if (Obstacle obstacle = driver_file_obstacle(level_zero))
        return obstacle;
    if (const DeviceFile *file = first_denied(facts, {Vendor::intel, Vendor::unknown}))
        return no_permission(*file);
    if (!level_zero.init_failure.empty() && level_zero.init_code != ze_uninitialized)
        return {.reason = "the Level Zero driver does not start: " + level_zero.init_failure,
                .remedy = update_ze_driver};
    return no_ze_device(facts);
}

Obstacle cuda_driver_obstacle(const CudaFacts &cuda)
{
    const char *update = "update NVIDIA's driver and look at the kernel's log";
    if (cuda.probe.asked && cuda.probe.outcome == Outcome::not_started)
        return not_started(cuda.probe);
    if (cuda.probe.outcome == Outcome::crashed)
        return {.reason = "NVIDIA's driver crashes when it is asked (" + cuda.probe.detail + ")",
                .remedy = update};
    if (cuda.probe.outcome == Outcome::out_of_time)
        return {.reason = "NVIDIA's driver does not answer within " + cuda.probe.detail,
                .remedy = update};
    if (!cuda.library_failure.empty())
        return {.reason = "NVIDIA's driver cannot be loaded: " + cuda.library_failure,
                .remedy = "install it again, with all that it depends on"};
    const std::string &failure = cuda.init_failure;
    if (failure.empty() || cuda.init_code == cuda_no_device)
        return {};
    if (cuda.init_code == cuda_driver_mismatch)
        return {
            .reason = "NVIDIA's driver does not start: " + failure,
            .remedy =
                "its libraries and the kernel's module are of two versions; restart the machine"};
    return {.reason = "NVIDIA's driver does not start: " + failure, .remedy = update};
}

Obstacle cuda_obstacle(const Facts &facts, const std::string &reason)
{
    if (const DeviceFile *file = first_denied(facts, {Vendor::nvidia, Vendor::amd}))
        return no_permission(*file);
    if (Obstacle obstacle = cuda_driver_obstacle(facts.cuda))
        return obstacle;
    if (!facts.cuda.devices.empty())
        return {
            .reason = reason + ", though NVIDIA's driver does",
            .remedy =
                "see that CUDA_VISIBLE_DEVICES names it, and that the driver, which is for CUDA " +
                facts.cuda.driver_version + ", is not older than this " + name_of(facts.engine) +
                "'s CUDA"};
    if (facts.cuda.visible && facts.cuda.has_library)
        return {.reason = reason,
                .remedy = "CUDA_VISIBLE_DEVICES is '" + *facts.cuda.visible +
                          "', and hides all others from programs: unset it"};
    if (!has_files(facts, {Vendor::nvidia, Vendor::amd}))
        return {.reason = reason,
                .remedy =
                    "where there is an NVIDIA or AMD GPU, install its driver; the kernel then "
                    "shows /dev/nvidiactl or /dev/kfd"};
    return {.reason = reason,
            .remedy = "update the driver of the GPU, which may be too old for this " +
                      name_of(facts.engine)};
}

} // namespace dnn_torch
