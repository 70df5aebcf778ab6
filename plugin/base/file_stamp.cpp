// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_stamp.h"

#include <ctime>
#include <sys/stat.h>

namespace dnn_torch
{
namespace
{

int64_t nanoseconds(const struct timespec &time)
{
    return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// Returns whether a further change could leave the stamp as it is: two changes within one tick of
// the system's clock have the same stamp.
bool may_change_unseen(const FileStamp &stamp)
{
    constexpr int64_t longest_tick_ns = 20'000'000;
    struct timespec now {
    };
    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now) - stamp.changed_ns < longest_tick_ns;
}

std::optional<FileStamp> stamp_from(const struct stat &status)
{
    if (!S_ISREG(status.st_mode))
        return std::nullopt;
    return FileStamp{.device = status.st_dev,
                     .inode = status.st_ino,
                     .size = status.st_size,
                     .modified_ns = nanoseconds(status.st_mtim),
                     .changed_ns = nanoseconds(status.st_ctim)};
}

} // namespace

std::optional<FileStamp> stamp_of(const std::string &path)
{
    struct stat status {
    };
    return stat(path.c_str(), &status) == 0 ? stamp_from(status) : std::nullopt;
}

std::optional<FileStamp> stamp_of(const Descriptor &file)
{
    struct stat status {
    };
    return fstat(file.get(), &status) == 0 ? stamp_from(status) : std::nullopt;
}

std::optional<FileStamp> settled_stamp_of(const Descriptor &file)
{
    std::optional<FileStamp> stamp = stamp_of(file);
    return stamp && may_change_unseen(*stamp) ? std::nullopt : stamp;
}

} // namespace dnn_torch
