/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "folder_search.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_usable(const char *path, int access_mode)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, access_mode) == 0;
}

static bool found_in(const char *folder, size_t length, const char *file_name, int access_mode,
                     char *path, size_t path_size)
{
    int written = snprintf(path, path_size, "%.*s/%s", (int)length, folder, file_name);
    return written > 0 && (size_t)written < path_size && is_usable(path, access_mode);
}

bool dnn_torch_find_file(const FolderSearch *search, const char *file_name, char *path,
                         size_t path_size)
{
    for (const char *folder = search->folders; folder;) {
        const char *end = strchrnul(folder, ':');
        size_t length = (size_t)(end - folder);
        const char *name = length ? folder : search->empty_name;
        if (name && found_in(name, length ? length : strlen(name), file_name, search->access, path,
                             path_size))
            return true;
        folder = *end ? end + 1 : NULL;
    }
    return false;
}
