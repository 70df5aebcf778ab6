/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opens and closes our objects many times: the leak sanitizer looks on. */
#include "dnn_torch/filter_module.h"

#include <dlfcn.h>
#include <libavfilter/avfilter.h>
#include <stdio.h>

static int open_and_close(const char *preload, const char *host)
{
    char message[512] = "";
    FilterModuleHost caller = {FILTER_MODULE_ABI, avfilter_version(), NULL, message,
                               sizeof(message)};
    void *first = dlopen(preload, RTLD_NOW | RTLD_LOCAL);
    void *second = dlopen(host, RTLD_NOW | RTLD_LOCAL);
    FilterModuleOpen *open = NULL;

    if (second)
        *(void **)&open = dlsym(second, FILTER_MODULE_SYMBOL);
    if (!first || !open || !open(&caller)) {
        fprintf(stderr, "%s\n", *message ? message : dlerror());
        return 1;
    }
    return dlclose(second) || dlclose(first);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 100; i++)
        if (argc != 3 || open_and_close(argv[1], argv[2]))
            return 1;
    return 0;
}
