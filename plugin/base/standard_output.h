// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks the standard output of our programs at their end.
#pragma once

#include <cstdio>

namespace dnn_torch
{

// Returns the exit status `result`; or 1, with an error line, if standard output could not be
// written completely, for example on a full disk.
inline int checked_output(int result)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return result;
    fprintf(stderr, "dnn-torch: the output cannot be written\n");
    return 1;
}

} // namespace dnn_torch
