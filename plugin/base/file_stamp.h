// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Detects changes of a file without reading it.
#pragma once

#include "descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace dnn_torch
{

// What stat() reports.  It shows most changes.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0; // mtime, since 1970; anybody may set it back
    int64_t changed_ns = 0;  // ctime, since 1970; only the system sets it

    bool operator==(const FileStamp &) const = default;
};

// Return nullopt unless it is a regular file.
std::optional<FileStamp> stamp_of(const std::string &path);
std::optional<FileStamp> stamp_of(const Descriptor &file);

// Returns nullopt also if the file changed within the last 20 ms, so that a further change could
// leave the stamp as it is.
std::optional<FileStamp> settled_stamp_of(const Descriptor &file);

} // namespace dnn_torch
