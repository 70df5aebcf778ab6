// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Identifies a file and its content, and detects changes.
#pragma once

#include "base/descriptor.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

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

// Detects that a path leads to another file, or to a rewritten one.  It has no thread: its owner
// polls it.  Belongs to one thread.
class FileWatch
{
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds interval{500};

    // The current file counts as known.
    explicit FileWatch(std::string path) : path_(std::move(path)), known_(stamp_of(path_)) {}

    // Returns true once for each change.  A file that replaces another one counts at once.
    // A file that is rewritten in place counts once two checks find the same stamp.  Checks the
    // file at most once per interval, however often it is called.
    bool has_changed(Time now);

private:
    std::string path_;
    std::optional<FileStamp> known_;
    std::optional<FileStamp> seen_; // at the last check
    Time next_check_{};
};

} // namespace dnn_torch
