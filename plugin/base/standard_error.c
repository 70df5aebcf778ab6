/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "standard_error.h"

#include <fcntl.h>
#include <unistd.h>

/* Inherited descriptors lack FD_CLOEXEC; the files that FFmpeg opens have it. */
static bool is_inherited(void)
{
    const int flags = fcntl(STDERR_FILENO, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

static bool was_there = false;

__attribute__((constructor)) static void look_at_load(void)
{
    was_there = is_inherited();
}

bool dnn_torch_has_standard_error(void)
{
    return was_there && is_inherited();
}
