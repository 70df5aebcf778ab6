// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a child prints.  Belongs to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace isolation
{

// Passes a child's lines on to our standard error: never to our standard output, which may carry a
// video.  An untrusted child may print without end, so the excess is dropped.  Never waits.  Each
// warning of LibTorch is passed on once.
class PrintedLines
{
public:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t longest_line = 1000, most_bytes_a_second = 16 << 10;

    void add(std::string_view text);
    // Call it when the child prints no more.
    void finish();

    // The last line that was not empty, in printable characters, or "".
    const std::string &last() const { return last_; }

private:
    void end_line();
    void pass_on(const std::string &line);
    bool is_known_warning(const std::string &line);

    std::string begun_, last_;
    std::set<std::string> warnings_;
    Clock::time_point second_ = {};
    size_t bytes_in_second_ = 0;
};

} // namespace isolation
