/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "standard_error.h"

#include <fcntl.h>
#include <unistd.h>

/* What came over exec() is not closed by the next one; the files that FFmpeg opens are. */
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
