// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Notices that a file is another than before, without a thread: whoever has a turn looks.
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

    // What the path leads to now is what was there before.
    explicit FileWatch(std::string path) : path_(std::move(path)), known_(stamp_of(path_)) {}

    // True once for each change.  A file in the place of another one is taken at once.  One
    // that is rewritten where it lies is taken when two looks find the same.  Looks at
    // the file once in an interval, however often it is called.
    bool has_changed(Time now);

private:
    std::string path_;
    std::optional<FileStamp> known_;
    std::optional<FileStamp> seen_; // at the last look
    Time next_look_{};
};

} // namespace dnn_torch
