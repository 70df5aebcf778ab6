// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_folder.h"

#include "base/compose.h"
#include "content_hash.h"
#include "tuning_record.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace engine_torch
{
namespace
{

std::string variable(const char *name)
{
    return dnn_torch::text_or_empty(secure_getenv(name));
}

// Returns "" if there is none.
std::filesystem::path folder()
{
    if (secure_getenv("DNN_TORCH_CACHE"))
        return variable("DNN_TORCH_CACHE");
    if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty())
        return std::filesystem::path(caches) / "dnn-torch";
    if (const std::string home = variable("HOME"); !home.empty())
        return std::filesystem::path(home) / ".cache" / "dnn-torch";
    return "";
}

// Returns "" if there is none.
std::filesystem::path file_for(const std::string &line)
{
    const std::filesystem::path there = folder();
    if (there.empty() || line.empty())
        return "";
    return there / ("tuning-" + content_hash(line).substr(0, 16));
}

// Returns "" unless the file is regular: reading must not wait for a pipe.
std::string read(const std::filesystem::path &path)
{
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return "";
    struct stat about = {};
    std::string contents(longest_tuning_text, '\0');
    ssize_t size = 0;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        size = ::read(descriptor, contents.data(), contents.size());
    close(descriptor);
    contents.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return contents;
}

// Writes to a temporary file and renames it, so that nobody reads half a file.
void write(const std::filesystem::path &path, const std::string &contents)
{
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::string temporary = path.string() + ".XXXXXX";
    const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0)
        return;
    const auto written = ::write(descriptor, contents.data(), contents.size());
    const bool whole = written == static_cast<ssize_t>(contents.size());
    if (close(descriptor) < 0 || !whole || rename(temporary.c_str(), path.c_str()) < 0)
        unlink(temporary.c_str());
}

} // namespace

std::string read_from_folder(const std::string &line)
{
    const std::filesystem::path path = file_for(line);
    return path.empty() ? "" : read(path);
}

void write_to_folder(const std::string &line, const std::string &text)
{
    if (const std::filesystem::path path = file_for(line); !path.empty())
        write(path, text);
}

} // namespace engine_torch
