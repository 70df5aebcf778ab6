// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "commands.h"
#include "installation.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/auxv.h>
#include <unistd.h>

namespace dnn_torch {
namespace {

bool set_preload(const std::string &path)
{
    const char *before = getenv("LD_PRELOAD");
    std::string value = before && *before ? path + ":" + before : path;
    return setenv("LD_PRELOAD", value.c_str(), 1) == 0;
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
    std::string places, preload = find_preload(places);
    if (getauxval(AT_SECURE)) {
        fprintf(stderr, "dnn-torch: refuses to run with raised privileges\n");
        return exit_cannot_run;
    }
    if (preload.empty()) {
        fprintf(stderr, "dnn-torch: there is no libdnn_torch_preload.so in %s; install it again\n",
                places.c_str());
        return exit_cannot_run;
    }
    if (preload.find_first_of(" :") != std::string::npos) {
        fprintf(stderr,
                "dnn-torch: the dynamic linker takes no path with a blank or a colon; move %s\n",
                preload.c_str());
        return exit_cannot_run;
    }
    if (!set_preload(preload)) {
        fprintf(stderr, "dnn-torch: %s\n", strerror(errno));
        return exit_cannot_run;
    }
    return exec(program);
}

} // namespace dnn_torch
