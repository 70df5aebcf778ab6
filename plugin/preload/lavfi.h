/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * The libavfilters of this process, of which there may be several: the system's
 * beside one that a Python wheel brings along.
 */
#ifndef DNN_TORCH_PRELOAD_LAVFI_H
#define DNN_TORCH_PRELOAD_LAVFI_H

#include "dnn_torch/filter_module.h"

#include <stdatomic.h>

/** One of them.  It stays open, and this lives as long as the process. */
typedef struct Lavfi {
    const void *object; /* which of the loaded ones it is */
    FilterRegistry real;
    unsigned version;
    atomic_bool asked; /* whether its host module was asked for */
    _Atomic(const FilterModule *) module;
    struct Lavfi *next;
} Lavfi;

/**
 * Returns the libavfilter that the code at `caller` would call without us, or NULL
 * if none is loaded.  Remembers only what it found.  At the first call of an object
 * it waits for the dynamic linker; it holds no lock of its own.
 */
Lavfi *dnn_torch_lavfi_of(void *caller);

#endif
