/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A library whose constructor uses libavfilter before main() has begun. */
#include "consumer.h"

#include <stdlib.h>

__attribute__((constructor)) static void consume_early(void)
{
    const char *model = getenv("EARLY_MODEL");
    if (model && consume(model))
        _Exit(1);
}
