/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/** Checks whether descriptor 2 is standard error.  A program that is started without one may have
 *  any file there: the next one that it opens. */
#ifndef DNN_TORCH_STANDARD_ERROR_H
#define DNN_TORCH_STANDARD_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns false if descriptor 2 was closed when this library was loaded, is closed now, or was
 * opened by the program itself.  Write nothing there then.  Any thread.
 */
bool dnn_torch_has_standard_error(void);

#ifdef __cplusplus
}
#endif

#endif
