// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cage.h"
#include "layers.h"

#include "base/compose.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <system_error>

namespace dnn_torch
{
namespace
{

struct CloseFolder {
    void operator()(DIR *folder) const { closedir(folder); }
};

CageLayer layer(const char *name, std::string reason)
{
    bool closed = reason.empty();
    return {.name = name, .closed = closed, .reason = std::move(reason)};
}

} // namespace

std::string failed_call(const char *what)
{
    int error = errno;
    return concat(what, ": ", std::generic_category().message(error));
}

std::string other_threads()
{
    std::unique_ptr<DIR, CloseFolder> tasks(opendir("/proc/self/task"));
    if (!tasks)
        return failed_call("/proc/self/task");
    size_t threads = 0;
    while (const dirent *task = readdir(tasks.get()))
        threads += task->d_name[0] != '.';
    return threads == 1 ? "" : concat(threads, " threads run already");
}

std::vector<CageLayer> close_cage(const CageRules &rules)
{
    std::vector<CageLayer> layers;
    layers.push_back(layer("limits", close_limits(rules)));
    layers.push_back(layer("privileges", close_privileges()));
    layers.push_back(layer("Landlock", close_landlock(rules)));
    if (rules.uses_gpu())
        rules.open_gpu();
    layers.push_back(layer("seccomp", close_system_calls(rules)));
    return layers;
}

} // namespace dnn_torch
