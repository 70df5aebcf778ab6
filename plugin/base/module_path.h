/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * Where host modules and engines lie: in the directories of
 * DNN_TORCH_MODULE_PATH (colon-separated, ignored in secure-execution mode),
 * then beside the object that asks.
 */
#ifndef DNN_TORCH_MODULE_PATH_H
#define DNN_TORCH_MODULE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds a module's file by its name, "host-lavfi8.so" for one.
 * `self` is any address inside the object that asks.  On success `path` holds
 * a path that exists; on failure it holds the places that were looked in.
 */
bool dnn_torch_find_module(const void *self, const char *file_name, char *path, size_t path_size);

#ifdef __cplusplus
}
#endif

#endif
