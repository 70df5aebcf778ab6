// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open_files.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace dnn_torch
{
namespace
{

std::optional<int> number_of(std::string_view name)
{
    int number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    return fault == std::errc() ? std::optional(number) : std::nullopt;
}

bool is_of(int descriptor, const struct stat &wanted)
{
    struct stat about = {};
    return fstat(descriptor, &about) == 0 && about.st_dev == wanted.st_dev &&
           about.st_ino == wanted.st_ino;
}

} // namespace

bool is_open_here(const std::string &path)
{
    struct stat wanted = {};
    if (stat(path.c_str(), &wanted) != 0 || !S_ISREG(wanted.st_mode))
        return false;
    std::error_code unknown; // set if there is no /proc
    for (std::filesystem::directory_iterator each("/proc/self/fd", unknown), end;
         !unknown && each != end; each.increment(unknown)) {
        const std::optional<int> descriptor = number_of(each->path().filename().string());
        if (descriptor && is_of(*descriptor, wanted))
            return true;
    }
    return false;
}

} // namespace dnn_torch
