// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "printed_lines.h"

#include "base/standard_error.h"
#include "base/terminal.h"

#include <poll.h>
#include <unistd.h>

namespace isolation
{
namespace
{

// Drops the line if the pipe is full or the descriptor closed.
void write_now(const std::string &line)
{
    if (!dnn_torch_has_standard_error())
        return;
    pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT))
        static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
}

// LibTorch itself prints "[W1126 04:20:33.123 NNPACK.cpp:61] Could not ...", with the time in it.
// Returns an empty text if the line is no warning.
std::string_view warning_in(std::string_view line)
{
    if (line.starts_with("warning of LibTorch"))
        return line;
    const size_t end = line.find("] ");
    return line.starts_with("[W") && end != line.npos ? line.substr(end) : std::string_view();
}

} // namespace

void PrintedLines::add(std::string_view text)
{
    for (const char each : text) {
        if (each == '\n')
            end_line();
        else if (begun_.size() < longest_line)
            begun_ += each;
    }
}

void PrintedLines::finish()
{
    if (!begun_.empty())
        end_line();
}

void PrintedLines::end_line()
{
    const std::string line = dnn_torch::printable(begun_);
    begun_.clear();
    if (line.find_first_not_of(" \t") != std::string::npos)
        last_ = line;
    if (!is_known_warning(line))
        pass_on(line + "\n");
}

bool PrintedLines::is_known_warning(const std::string &line)
{
    constexpr size_t most = 100;
    const std::string_view text = warning_in(line);
    return !text.empty() && warnings_.size() < most && !warnings_.emplace(text).second;
}

void PrintedLines::pass_on(const std::string &line)
{
    const Clock::time_point now = Clock::now();
    if (now - second_ >= std::chrono::seconds(1)) {
        second_ = now;
        bytes_in_second_ = 0;
    }
    const bool was_too_much = bytes_in_second_ > most_bytes_a_second;
    bytes_in_second_ += line.size();
    if (bytes_in_second_ <= most_bytes_a_second)
        write_now(line);
    else if (!was_too_much)
        write_now("dnn_torch: the model's process prints too much; the rest is left out\n");
}

} // namespace isolation
