/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <libavfilter/avfilter.h>

int main(void)
{
    return avfilter_version() == 0;
}
