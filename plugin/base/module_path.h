/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * Finds host modules, engines and our own programs: in the folders of
 * DNN_TORCH_MODULE_PATH (separated by colons, ignored in secure-execution mode),
 * then in those where they are installed.  Any thread.
 */
#ifndef DNN_TORCH_MODULE_PATH_H
#define DNN_TORCH_MODULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds a module's file by its name, for example "host-lavfi8.so".  `folders`,
 * separated by colons, are those where it may be installed.  On success `path` holds
 * the file's path; on failure it holds the folders that were searched.
 */
bool dnn_torch_find_module_in(const char *folders, const char *file_name, char *path,
                              size_t path_size);

/**
 * The same for modules that are installed in the caller's folder.  `self` is any
 * address inside the calling object.
 */
bool dnn_torch_find_module(const void *self, const char *file_name, char *path, size_t path_size);

#ifdef __cplusplus
}
#endif

#endif
