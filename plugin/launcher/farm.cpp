// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"
#include "launcher_commands.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace dnn_torch
{

// The package starts this program again, by its path.
int farm(char **arguments)
{
    Part package = find_farm();
    if (package.path.empty()) {
        fprintf(stderr, "dnn-torch: there is no farm in %s; install ffmpeg-dnn-torch-farm\n",
                package.searched.c_str());
        return exit_cannot_run;
    }
    char python[] = "python3", isolated[] = "-I";
    std::vector<char *> command = {python, isolated, package.path.data()};
    for (char **word = arguments + 2; *word; word++)
        command.push_back(*word);
    command.push_back(nullptr);
    setenv("DNN_TORCH_LAUNCHER", own_path().c_str(), 1);
    execvp(python, command.data());
    fprintf(stderr, "dnn-torch: %s: %s\n", python, strerror(errno));
    return exit_cannot_run;
}

} // namespace dnn_torch
