// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "child_text.h"

#include "base/compose.h"

#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

[[noreturn]] void find_and_exit(const std::function<std::string()> &find, unsigned seconds,
                                int output)
{
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string text = find();
    const bool is_written =
        write(output, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(is_written ? 0 : 1);
}

std::string read_all(int input)
{
    std::string text;
    char piece[1024];
    for (;;) {
        ssize_t got = read(input, piece, sizeof(piece));
        if (got > 0)
            text.append(piece, static_cast<size_t>(got));
        else if (got == 0 || errno != EINTR)
            return text;
    }
}

bool ended_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string failed(const char *call, int error)
{
    return concat(call, ": ", std::generic_category().message(error));
}

} // namespace

ChildText text_of_child(const std::function<std::string()> &find, unsigned seconds)
{
    int ends[2];
    if (pipe(ends) != 0)
        return {.text = "", .failure = failed("pipe", errno)};
    pid_t child = fork();
    if (child == 0)
        find_and_exit(find, seconds, ends[1]);
    int error = errno;
    close(ends[1]);
    std::string text = child > 0 ? read_all(ends[0]) : "";
    close(ends[0]);
    if (child < 0)
        return {.text = "", .failure = failed("fork", error)};
    return {.text = std::move(text), .failure = ended_well(child) ? "" : "the attempt failed"};
}

} // namespace dnn_torch
