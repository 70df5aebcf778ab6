// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Chooses the device that an engine is given for the option `device`.
#pragma once

#include <string>

namespace dnn_torch
{

struct DeviceChoice {
    std::string device;
    std::string why; // for the log; may be empty
};

// Asks another process, so that no driver hangs or crashes in this one.
// Throws Error if the device cannot be used; its text says why and what to do.
DeviceChoice choose_device(const std::string &device, const std::string &engine);

} // namespace dnn_torch
