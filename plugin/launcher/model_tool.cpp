// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"
#include "launcher_commands.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace dnn_torch
{

// Passes the tool's path as its name, because the tool looks for engines in the folder of its name,
// and the launcher's path to the command that starts it again.
int model_tool(char **arguments)
{
    Part tool = find_module("model-tool");
    if (tool.path.empty()) {
        fprintf(stderr, "dnn-torch: there is no model-tool in %s; install it again\n",
                tool.searched.c_str());
        return exit_cannot_run;
    }
    arguments[0] = tool.path.data();
    setenv("DNN_TORCH_LAUNCHER", own_path().c_str(), 1);
    execv(tool.path.c_str(), arguments);
    fprintf(stderr, "dnn-torch: %s: %s\n", tool.path.c_str(), strerror(errno));
    return exit_cannot_run;
}

} // namespace dnn_torch
