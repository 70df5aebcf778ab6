// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"

#include "base/folder_search.h"
#include "base/module_path.h"

#include <climits>
#include <filesystem>
#include <sys/auxv.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

// If /proc is not mounted, the kernel's auxiliary vector has the program's path.
fs::path own_file()
{
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    const auto *const called = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
    return error && called ? fs::canonical(called, error) : own;
}

std::string installed_folders()
{
    const fs::path own = own_file().parent_path();
    return own.string() + ":" + (own / MODULE_DIR_FROM_BINDIR).lexically_normal().string();
}

} // namespace

std::string own_path()
{
    return own_file().string();
}

// Ignores DNN_TORCH_MODULE_PATH, because the preload object goes into every program.
Part find_preload()
{
    char path[PATH_MAX];
    std::string folders = installed_folders();
    FolderSearch search = {.folders = folders.c_str(), .empty_name = nullptr, .access = R_OK};
    if (dnn_torch_find_file(&search, "libdnn_torch_preload.so", path, sizeof(path)))
        return {.path = path, .searched = {}};
    return {.path = {}, .searched = folders};
}

Part find_module(const std::string &file_name)
{
    char path[PATH_MAX];
    if (dnn_torch_find_module_in(installed_folders().c_str(), file_name.c_str(), path,
                                 sizeof(path)))
        return {.path = path, .searched = {}};
    return {.path = {}, .searched = path};
}

Part find_farm()
{
    const fs::path own = own_file().parent_path();
    const fs::path data = (own / DATA_DIR_FROM_BINDIR).lexically_normal();
    for (const fs::path &folder : {own / "farm", data / "farm"}) {
        std::error_code error;
        if (fs::is_regular_file(folder / "__main__.py", error))
            return {.path = folder.string(), .searched = {}};
    }
    return {.path = {}, .searched = data.string()};
}

} // namespace dnn_torch
