/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A program that links libavfilter. */
#include "consumer.h"

int main(int argc, char **argv)
{
    return argc == 2 ? consume(argv[1]) : 2;
}
