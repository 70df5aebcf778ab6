// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "death.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace fake_engine
{
namespace
{

// As nothing had caught it before: sanitizers do.
void raise_by_default(int number)
{
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void throw_something()
{
    throw std::runtime_error("thrown through C");
}

} // namespace

void die(const std::string &how) noexcept
{
    if (how.empty())
        return;
    std::fprintf(stderr, "the script says: %s\n", how.c_str());
    if (how == "segfault")
        raise_by_default(SIGSEGV);
    else if (how == "abort")
        raise_by_default(SIGABRT);
    else if (how == "throw")
        throw_something(); // which noexcept makes the process's end
    else if (how == "exit")
        _exit(3);
    else if (how == "kill")
        std::raise(SIGKILL);
    else if (how == "stop")
        std::raise(SIGSTOP);
}

} // namespace fake_engine
