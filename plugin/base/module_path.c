/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "module_path.h"

#include "folder_search.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the folders `part` are in the list already, one after the other. */
static bool holds(const char *list, const char *part)
{
    const size_t length = strlen(part);
    for (const char *at = list; length && (at = strstr(at, part)); at++)
        if ((at == list || at[-1] == ':') && (at[length] == ':' || !at[length]))
            return true;
    return false;
}

bool dnn_torch_find_module_in(const char *folders, const char *file_name, char *path,
                              size_t path_size)
{
    const char *configured = secure_getenv("DNN_TORCH_MODULE_PATH");
    const FolderSearch searches[] = {
        {.folders = configured, .access = R_OK},
        {.folders = folders, .access = R_OK},
    };

    for (size_t i = 0; i < sizeof(searches) / sizeof(*searches); i++)
        if (dnn_torch_find_file(&searches[i], file_name, path, path_size))
            return true;
    if (configured && holds(configured, folders))
        snprintf(path, path_size, "%s", configured);
    else
        snprintf(path, path_size, "%s%s%s", configured ? configured : "", configured ? " and " : "",
                 folders);
    return false;
}

/* Writes the folder of the object that holds `address`, links resolved, or "". */
static void find_own_folder(const void *address, char folder[PATH_MAX])
{
    Dl_info info;
    if (dladdr(address, &info) && info.dli_fname && realpath(info.dli_fname, folder))
        *strrchr(folder, '/') = '\0';
    else
        *folder = '\0';
}

bool dnn_torch_find_module(const void *self, const char *file_name, char *path, size_t path_size)
{
    char own[PATH_MAX];
    find_own_folder(self, own);
    return dnn_torch_find_module_in(own, file_name, path, path_size);
}
