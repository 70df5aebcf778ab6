// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Why a model cannot run on a device.  These are pure functions of the facts, one for
// each layer; the first layer that does not work is reported to the user.
#pragma once

#include "facts.h"

#include <string>

namespace dnn_torch
{

// As in Verdict.  Without a reason, there is no obstacle.
struct Obstacle {
    std::string reason, remedy;

    explicit operator bool() const { return !reason.empty(); }
};

// Returns the name of the engine's library: "LibTorch"; "the engine" if it is not known.
std::string name_of(const EngineFacts &engine);

// Checks the engine and its library, for any device.
Obstacle engine_obstacle(const EngineFacts &engine);

// Checks loader, driver, device, permission and version.  Returns none if the probe did
// not run.
Obstacle level_zero_obstacle(const Facts &facts);

// Checks NVIDIA's driver.  Returns none if the probe did not run, if there is no
// driver, or if the driver starts, with or without a device.
Obstacle cuda_driver_obstacle(const CudaFacts &cuda);

// For a library that was built with CUDA or ROCm and reported `reason` itself.
Obstacle cuda_obstacle(const Facts &facts, const std::string &reason);

// The version of Level Zero when LibTorch's XPU support began.  An older version explains
// why LibTorch finds nothing; a device that LibTorch lists is usable with any version.
constexpr int oldest_ze_major = 1, oldest_ze_minor = 3;
bool is_too_old(const ZeDevice &device);
Obstacle version_obstacle(const ZeDevice &device);

} // namespace dnn_torch
