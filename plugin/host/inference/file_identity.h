// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which file a path leads to, and what was in it.
#pragma once

#include "base/descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace dnn_torch
{

// What stat() tells.  Most changes of a file show in it, without reading the file.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0; // since 1970; anybody may set it back
    int64_t changed_ns = 0;  // the same of the system's own, which nobody can

    bool operator==(const FileStamp &) const = default;
};

// Tells files apart that were rewritten in place within the same tick of the clock as well.
struct FileIdentity {
    FileStamp stamp;
    uint64_t hash[2] = {}; // XXH3 of the content

    bool operator==(const FileIdentity &) const = default;
};

// Returns nullopt if the path leads to no regular file.
std::optional<FileStamp> stamp_of(const std::string &path);

// Reads the whole file without moving its position.  Returns nullopt also if it cannot be
// read, or if it changes while it is read.
std::optional<FileIdentity> identity_of(const Descriptor &file);

} // namespace dnn_torch
