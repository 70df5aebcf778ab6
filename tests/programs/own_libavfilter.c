/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looks as if libavfilter.a were linked into it. */
#include <stdio.h>

int main(void)
{
    static const char *const class_names[] = {"AVFilter", "AVFilterGraph", "sws"};
    return puts(class_names[1]) < 0;
}
