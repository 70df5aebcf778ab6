// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Identifies a file and its content.
#pragma once

#include "base/descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace dnn_torch
{

// What stat() reports.  It shows most changes without reading the file.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0; // mtime, since 1970; anybody may set it back
    int64_t changed_ns = 0;  // ctime, since 1970; only the system sets it

    bool operator==(const FileStamp &) const = default;
};

// Differs even if the file was rewritten within one tick of the clock.
struct FileIdentity {
    FileStamp stamp;
    uint64_t hash[2] = {}; // XXH3 of the content

    bool operator==(const FileIdentity &) const = default;
};

// Return nullopt unless it is a regular file.
std::optional<FileStamp> stamp_of(const std::string &path);
std::optional<FileStamp> stamp_of(const Descriptor &file);

// Reads the whole file without moving its position.  Returns nullopt if it is not a regular
// file, is larger than 16 GiB, cannot be read, changed within the last 20 ms, or changes
// while it is read.
std::optional<FileIdentity> identity_of(const Descriptor &file);

} // namespace dnn_torch
