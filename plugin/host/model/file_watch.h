// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Detects that a path leads to another file, or to a rewritten one.  It has no thread: its
// owner polls it.
#pragma once

#include "file_identity.h"

#include <chrono>
#include <optional>
#include <string>

namespace dnn_torch
{

// Belongs to one thread.
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
