// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Identifies a file and its content, and detects changes.
#pragma once

#include "base/descriptor.h"
#include "base/file_stamp.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// Differs even if the file was rewritten within one tick of the clock.
struct FileIdentity {
    FileStamp stamp;
    uint64_t hash[2] = {}; // XXH3 of the content

    bool operator==(const FileIdentity &) const = default;
};

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
