// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Notices that a path leads to another file, or a rewritten one.  It has no thread: its
// owner looks in turns of its own.
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

    // The file to which the path leads now counts as known.
    explicit FileWatch(std::string path) : path_(std::move(path)), known_(stamp_of(path_)) {}

    // Returns true once for each change.  A file that replaces another one counts at once.
    // A file that is rewritten in place counts when two looks find the same.  Looks at the
    // file once in an interval, however often it is called.
    bool has_changed(Time now);

private:
    std::string path_;
    std::optional<FileStamp> known_;
    std::optional<FileStamp> seen_; // at the last look
    Time next_look_{};
};

} // namespace dnn_torch
