/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For LD_AUDIT: the dynamic linker does not find what HIDE_LIBRARY names. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version)
{
    (void)version;
    return LAV_CURRENT;
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
    const char *hidden = getenv("HIDE_LIBRARY");
    (void)cookie;
    /* The name that is asked for stays, so that the message has it. */
    return flag != LA_SER_ORIG && hidden && strstr(name, hidden) ? NULL : (char *)(uintptr_t)name;
}
