/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/** Which functions of a libavfilter make up its FilterRegistry. */
#ifndef DNN_TORCH_LAVFI_REGISTRY_H
#define DNN_TORCH_LAVFI_REGISTRY_H

#include "dnn_torch/filter_module.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The functions of a libavfilter by its handle of dlopen(); NULL for those that it has not. */
FilterRegistry dnn_torch_registry_of(void *lavfi);

#ifdef __cplusplus
}
#endif

#endif
