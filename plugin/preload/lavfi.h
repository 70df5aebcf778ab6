/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * The libavfilters of this process.  There may be several: the system's, and one that
 * a Python wheel brings along.
 */
#ifndef DNN_TORCH_PRELOAD_LAVFI_H
#define DNN_TORCH_PRELOAD_LAVFI_H

#include "dnn_torch/filter_module.h"

#include <stdatomic.h>

/** A libavfilter.  It stays open, and this struct lives as long as the process. */
typedef struct Lavfi {
    const void *object; /* its link_map */
    FilterRegistry real;
    unsigned version;
    atomic_bool asked; /* whether its host module was requested */
    _Atomic(const FilterModule *) module;
    struct Lavfi *next;
} Lavfi;

/**
 * Returns the libavfilter that the code at `caller` would call without us, or NULL
 * if none is loaded.  Remembers successes only.  At the first call from an object it
 * waits for the dynamic linker's lock; it holds no lock of its own.
 */
Lavfi *dnn_torch_lavfi_of(void *caller);

#endif
