/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lavfi_registry.h"

#include <dlfcn.h>

#define COUNT(member, symbol) +1
_Static_assert(sizeof(FilterRegistry) ==
                   (0 DNN_TORCH_WRAPPED_FUNCTIONS(COUNT)) * sizeof(void (*)(void)),
               "the list has every member of FilterRegistry");

FilterRegistry dnn_torch_registry_of(void *lavfi)
{
    FilterRegistry registry;

#define LOOK_UP(member, symbol) *(void **)&registry.member = dlsym(lavfi, #symbol);
    DNN_TORCH_WRAPPED_FUNCTIONS(LOOK_UP)
    return registry;
}
