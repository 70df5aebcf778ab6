// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probe.h"

#include "base/child_process.h"
#include "base/compose.h"
#include "base/descriptor.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;
using Outcome = ProbeResult::Outcome;

// A probe prints a few lines.  A longer text comes from a driver that does not stop.
constexpr size_t longest_text = 1 << 20;

// Preloaded objects, ours and the user's, are meant for the host program and not for the probe.
bool is_for_the_probe(std::string_view variable)
{
    return variable != "LD_PRELOAD";
}

// Returns true if the other end was closed in time and the text is not too long.
bool read_until_closed(int input, Clock::time_point deadline, std::string &text)
{
    char piece[4096];
    while (text.size() < longest_text) {
        pollfd ready{.fd = input, .events = POLLIN, .revents = 0};
        int count = poll(&ready, 1, milliseconds_until(deadline));
        if (count == 0)
            return false;
        ssize_t got = count > 0 ? read(input, piece, sizeof(piece)) : -1;
        if (got == 0)
            return true;
        if (got > 0)
            text.append(piece, static_cast<size_t>(got));
        else if (errno != EINTR)
            return false;
    }
    return false;
}

std::string describe(const ChildEnd &end)
{
    if (!end.known)
        return "how is not known";
    if (WIFSIGNALED(end.status))
        return concat("signal ", WTERMSIG(end.status));
    return concat("exit status ", WEXITSTATUS(end.status));
}

std::string describe(std::chrono::milliseconds limit)
{
    return limit.count() % 1000 ? concat(limit.count(), " ms") : concat(limit.count() / 1000, " s");
}

ProbeResult not_started(int error)
{
    return {.outcome = Outcome::not_started,
            .records = {},
            .detail = std::generic_category().message(error)};
}

} // namespace

ProbeResult run_probe(const std::string &program, const std::vector<std::string> &arguments,
                      std::chrono::milliseconds limit)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return not_started(errno);
    Descriptor input(ends[0]), output(ends[1]);

    Clock::time_point deadline = Clock::now() + limit;
    pid_t number = -1;
    if (int error = start_program({.program = program,
                                   .arguments = arguments,
                                   .environment = environment_where(is_for_the_probe),
                                   .output = output.get(),
                                   .errors = -1,
                                   .inherited = {}},
                                  number))
        return not_started(error);
    ChildProcess child(number);
    output = Descriptor();

    std::string text;
    bool closed = read_until_closed(input.get(), deadline, text);
    ChildEnd end = closed ? child.wait(deadline) : ChildEnd{};
    if (!end.come) {
        child.end_by_force();
        child.wait(Clock::now() + std::chrono::seconds(1));
    }
    Records records = parse_records(text);
    ProbeResult result = {
        .outcome = Outcome::crashed, .records = std::move(records.list), .detail = {}};
    // The last line counts, not the exit status, which may belong to another process by now.
    if (records.complete)
        result.outcome = Outcome::finished;
    else if (text.size() >= longest_text)
        result.detail = "it prints without end";
    else if (end.come)
        result.detail = describe(end);
    else
        result = {.outcome = Outcome::out_of_time,
                  .records = std::move(result.records),
                  .detail = describe(limit)};
    return result;
}

} // namespace dnn_torch
