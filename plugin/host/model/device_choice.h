// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Chooses the engine's device for the option `device`.
#pragma once

#include <string>

namespace dnn_torch
{

struct DeviceChoice {
    std::string device;
    std::string why; // for the log; may be empty
};

// Asks another process, because a driver may hang or crash.
// Throws Error if the device cannot be used; its text says why and what to do.
DeviceChoice choose_device(const std::string &device, const std::string &engine);

} // namespace dnn_torch
