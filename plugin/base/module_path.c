/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "module_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool found_in(const char *directory, int length, const char *file_name, char *path,
                     size_t path_size)
{
    int written = snprintf(path, path_size, "%.*s/%s", length, directory, file_name);
    return written > 0 && (size_t)written < path_size && access(path, R_OK) == 0;
}

static bool found_in_environment(const char *directories, const char *file_name, char *path,
                                 size_t path_size)
{
    while (directories && *directories) {
        int length = (int)strcspn(directories, ":");
        if (length && found_in(directories, length, file_name, path, path_size))
            return true;
        directories += length + (directories[length] == ':');
    }
    return false;
}

/* The directory of the object that holds `address`, links resolved; its length, or 0. */
static int own_directory(const void *address, char directory[PATH_MAX])
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname || !realpath(info.dli_fname, directory))
        return 0;
    return (int)(strrchr(directory, '/') - directory);
}

bool dnn_torch_find_module(const void *self, const char *file_name, char *path, size_t path_size)
{
    const char *configured = secure_getenv("DNN_TORCH_MODULE_PATH");
    char own[PATH_MAX];
    int length = own_directory(self, own);

    if (found_in_environment(configured, file_name, path, path_size))
        return true;
    if (length && found_in(own, length, file_name, path, path_size))
        return true;
    snprintf(path, path_size, "%s%s%.*s", configured ? configured : "", configured ? " and " : "",
             length, own);
    return false;
}
