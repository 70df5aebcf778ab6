// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cage.h"

#include "base/compose.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr unsigned patience_s = 10;

// A line for each layer: "NAME", a tab, and the reason.
std::string as_text(const std::vector<CageLayer> &layers)
{
    std::string text;
    for (const CageLayer &layer : layers)
        text += concat(layer.name, "\t", layer.reason, "\n");
    return text;
}

std::vector<CageLayer> from_text(std::string_view text)
{
    std::vector<CageLayer> layers;
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        size_t tab = std::min(line.find('\t'), line.size());
        std::string_view reason = line.substr(std::min(tab + 1, line.size()));
        layers.push_back({.name = std::string(line.substr(0, tab)),
                          .closed = reason.empty(),
                          .reason = std::string(reason)});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return layers;
}

std::vector<CageLayer> none_closed(const std::string &reason)
{
    std::vector<CageLayer> layers;
    for (const char *name : {"limits", "privileges", "Landlock", "seccomp"})
        layers.push_back({.name = name, .closed = false, .reason = reason});
    return layers;
}

[[noreturn]] void report_and_exit(int output)
{
    signal(SIGALRM, SIG_DFL);
    alarm(patience_s);
    std::string text = as_text(close_cage({}));
    bool is_written = write(output, text.data(), text.size()) == static_cast<ssize_t>(text.size());
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

} // namespace

std::vector<CageLayer> probe_cage()
{
    int ends[2];
    if (pipe(ends) != 0)
        return none_closed(concat("pipe: ", std::generic_category().message(errno)));
    pid_t child = fork();
    if (child == 0)
        report_and_exit(ends[1]);
    int error = errno;
    close(ends[1]);
    std::string text = child > 0 ? read_all(ends[0]) : "";
    close(ends[0]);
    if (child < 0)
        return none_closed(concat("fork: ", std::generic_category().message(error)));
    return ended_well(child) ? from_text(text) : none_closed("the attempt to close it failed");
}

} // namespace dnn_torch
