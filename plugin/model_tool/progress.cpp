// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "progress.h"

#include "base/terminal.h"

#include <cstdio>
#include <unistd.h>

namespace dnn_torch
{

void show_progress(const std::string &text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", printable(text).c_str());
}

} // namespace dnn_torch
