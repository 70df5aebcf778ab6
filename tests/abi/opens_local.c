/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A program that links no libavfilter and opens a user of it with RTLD_LOCAL,
 * as Python opens its extensions. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*consume)(const char *) = NULL;
    if (library)
        *(void **)&consume = dlsym(library, "consume");
    if (!consume) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: opens_local LIBRARY MODEL");
        return 2;
    }
    return consume(argv[2]);
}
