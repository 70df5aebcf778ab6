// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string &directory)
{
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

bool starts_with_and_number(const std::string &name, const std::string &start)
{
    return name.size() > start.size() && name.compare(0, start.size(), start) == 0 &&
           name.find_first_not_of("0123456789", start.size()) == name.npos;
}

Vendor vendor_of_render_node(const std::string &root, const std::string &name)
{
    std::string number;
    std::ifstream(root + "/sys/class/drm/" + name + "/device/vendor") >> number;
    if (number == "0x8086")
        return Vendor::intel;
    if (number == "0x10de")
        return Vendor::nvidia;
    return number == "0x1002" ? Vendor::amd : Vendor::unknown;
}

DeviceFile look_at(const std::string &root, const std::string &path, Vendor vendor)
{
    return {.path = path,
            .vendor = vendor,
            .permitted = access((root + path).c_str(), R_OK | W_OK) == 0};
}

} // namespace

std::vector<DeviceFile> find_device_files(const std::string &root)
{
    std::vector<DeviceFile> files;
    for (const std::string &name : names_in(root + "/dev/dri"))
        if (starts_with_and_number(name, "renderD"))
            files.push_back(look_at(root, "/dev/dri/" + name, vendor_of_render_node(root, name)));
    for (const std::string &name : names_in(root + "/dev")) {
        if (name == "nvidiactl" || starts_with_and_number(name, "nvidia"))
            files.push_back(look_at(root, "/dev/" + name, Vendor::nvidia));
        if (name == "kfd")
            files.push_back(look_at(root, "/dev/" + name, Vendor::amd));
    }
    return files;
}

} // namespace dnn_torch
