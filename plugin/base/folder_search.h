/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/** Finds a file in a list of folders like PATH. */
#ifndef DNN_TORCH_FOLDER_SEARCH_H
#define DNN_TORCH_FOLDER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FolderSearch {
    const char *folders;    /**< separated by colons; NULL for none */
    const char *empty_name; /**< the folder for an empty name; NULL skips empty names */
    int access;             /**< the permission that access() must grant: R_OK or X_OK */
} FolderSearch;

/**
 * Finds the first regular file of that name to which `access` is granted.  On
 * success `path` holds the folder's name, a slash and the file's name; on
 * failure its contents are undefined.  Any thread.
 */
bool dnn_torch_find_file(const FolderSearch *search, const char *file_name, char *path,
                         size_t path_size);

#ifdef __cplusplus
}
#endif

#endif
