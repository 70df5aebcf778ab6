// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "printed_lines.h"

#include "base/terminal.h"

#include <poll.h>
#include <unistd.h>

namespace isolation
{
namespace
{

// A full pipe or a closed descriptor loses the line.
void write_now(const std::string &line)
{
    pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT))
        static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
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
    pass_on(line + "\n");
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
