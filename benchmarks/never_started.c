/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * To be preloaded: pthread_join() of a thread that was never started is an error
 * instead of a crash.  With it FFmpeg's torch backend can be measured.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

typedef int Join(pthread_t, void **);

int pthread_join(pthread_t thread, void **result)
{
    if (thread == 0)
        return ESRCH;
    Join *join = (Join *)dlsym(RTLD_NEXT, "pthread_join");
    return join ? join(thread, result) : EINVAL;
}
