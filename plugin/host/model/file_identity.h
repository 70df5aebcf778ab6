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
#include <vector>

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

// Returns nullopt also if the file changed within the last 20 ms, so that a further change could
// leave the stamp as it is.
std::optional<FileStamp> settled_stamp_of(const Descriptor &file);

// Reads the whole file without moving its position.  Returns nullopt if it is not a regular
// file, is larger than 16 GiB, cannot be read, changed within the last 20 ms, or changes
// while it is read.
std::optional<FileIdentity> identity_of(const Descriptor &file);

// Detects that paths lead to other files, or to rewritten ones.  It has no thread: its owner
// polls it.  Belongs to one thread.
class FileWatch
{
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::milliseconds interval{500};

    // The current file counts as known.
    explicit FileWatch(const std::string &path) { add(path); }

    // Another file that is watched.  Does nothing if it is watched already.
    void add(const std::string &path);

    // Returns true once for each change.  A file that replaces another one counts at once.
    // A file that is rewritten in place counts once two checks find the same stamp.  Checks the
    // files at most once per interval, however often it is called.
    bool has_changed(Time now);

private:
    struct File {
        std::string path;
        std::optional<FileStamp> known;
        std::optional<FileStamp> seen = {}; // at the last check

        bool has_changed();
    };
    std::vector<File> files_;
    Time next_check_{};
};

} // namespace dnn_torch
