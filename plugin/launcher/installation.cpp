// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"

#include <filesystem>
#include <sstream>
#include <stdlib.h>
#include <system_error>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

fs::path own_directory()
{
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string installed_directories()
{
    fs::path directory = own_directory();
    return directory.string() + ":" +
           (directory / MODULE_DIR_FROM_BINDIR).lexically_normal().string();
}

std::string find(const std::string &file_name, const std::string &directories, std::string &places)
{
    std::istringstream each(directories);
    std::string directory;
    while (std::getline(each, directory, ':')) {
        std::error_code error;
        fs::path path = fs::path(directory) / file_name;
        if (!directory.empty() && fs::exists(path, error))
            return path;
    }
    places = directories;
    return {};
}

} // namespace

std::string find_preload(std::string &places)
{
    return find("libdnn_torch_preload.so", installed_directories(), places);
}

std::string find_module(const std::string &file_name, std::string &places)
{
    const char *configured = secure_getenv("DNN_TORCH_MODULE_PATH");
    return find(file_name,
                (configured ? std::string(configured) + ":" : std::string()) +
                    installed_directories(),
                places);
}

} // namespace dnn_torch
