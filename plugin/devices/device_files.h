// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The device files of GPUs, and whether this process may open them.
#pragma once

#include <string>
#include <vector>

namespace dnn_torch
{

enum class Vendor { unknown, intel, nvidia, amd };

struct DeviceFile {
    std::string path; // "/dev/dri/renderD128"
    Vendor vendor;
    bool permitted; // to read and write
};

// Lists /dev/dri/renderD*, /dev/nvidiactl, /dev/nvidia* and /dev/kfd, sorted by name.
// Opens none of them, because opening wakes drivers.  `root` is empty except in tests.
std::vector<DeviceFile> find_device_files(const std::string &root = {});

} // namespace dnn_torch
