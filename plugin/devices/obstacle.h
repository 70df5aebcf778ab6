// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What stands between a model and a device: pure functions of the facts, each
// for one layer.  The first layer that does not work is the one to tell of.
#pragma once

#include "facts.h"

#include <string>

namespace dnn_torch
{

// As in Verdict; without a reason nothing stands in the way.
struct Obstacle {
    std::string reason, remedy;

    explicit operator bool() const { return !reason.empty(); }
};

// The engine and its library, whatever the device.
Obstacle engine_obstacle(const TorchFacts &torch);

// Loader, driver, device, permission, version.  None where nobody was asked.
Obstacle level_zero_obstacle(const Facts &facts);

// NVIDIA's driver; none where nobody was asked, where there is none, and where it
// starts or merely has no device.
Obstacle cuda_driver_obstacle(const CudaFacts &cuda);

// For a library that was built with CUDA or ROCm and has said `reason`.
Obstacle cuda_obstacle(const Facts &facts, const std::string &reason);

// The oldest Level Zero that drivers of the time of LibTorch's XPU support speak.
// It explains why LibTorch finds nothing; a device that LibTorch lists is usable
// whatever its version.
constexpr int oldest_ze_major = 1, oldest_ze_minor = 3;
bool is_too_old(const ZeDevice &device);
Obstacle version_obstacle(const ZeDevice &device);

} // namespace dnn_torch
