// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"
#include "launcher_commands.h"
#include "program.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

bool set_preload(const std::string &path)
{
    const char *before = getenv("LD_PRELOAD");
    std::string value = before && *before ? path + ":" + before : path;
    return setenv("LD_PRELOAD", value.c_str(), 1) == 0;
}

// Debian's ffmpeg is linked to OpenBLAS, which starts a thread for each core when it is loaded.
// Where addresses are limited, these threads ask for 128 MiB again and again, and the program waits
// for them when it ends (0.3.21, also without our filters).
bool spare_addresses()
{
    rlimit limit = {};
    const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return !is_limited || setenv("OPENBLAS_NUM_THREADS", "1", 0) == 0;
}

// Only warns, because the program may need no filter, or may start programs that do.
void warn_if_out_of_reach(const std::string &name)
{
    Program program = inspect_program(find_program(name));
    if (program.hindrance != Hindrance::none)
        fprintf(stderr, "dnn-torch: %s %s\n", program.runs.c_str(),
                explain(program.hindrance).c_str());
}

int exec(char **program)
{
    execvp(program[0], program);
    fprintf(stderr, "dnn-torch: %s: %s\n", program[0], strerror(errno));
    return errno == ENOENT ? exit_not_found : exit_cannot_run;
}

} // namespace

int run(char **program)
{
    Part preload = find_preload();
    if (preload.path.empty()) {
        fprintf(stderr, "dnn-torch: there is no libdnn_torch_preload.so in %s; install it again\n",
                preload.searched.c_str());
        return exit_cannot_run;
    }
    if (preload.path.find_first_of(" :") != std::string::npos) {
        fprintf(stderr,
                "dnn-torch: the dynamic linker takes no path with a blank or a colon; move %s\n",
                preload.path.c_str());
        return exit_cannot_run;
    }
    if (!set_preload(preload.path) || !spare_addresses()) {
        fprintf(stderr, "dnn-torch: %s\n", strerror(errno));
        return exit_cannot_run;
    }
    warn_if_out_of_reach(program[0]);
    return exec(program);
}

} // namespace dnn_torch
