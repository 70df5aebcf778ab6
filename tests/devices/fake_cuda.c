/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A libcuda.so.1 without any device behind it.  FAKE_CUDA says how it is:
 *
 *   no-device      starts, and says that there is none
 *   two-devices    has two GPUs
 *   mismatch       does not start, for the kernel has another version
 *   hanging-init   its init never returns
 *   crashing-init  its init writes through a null pointer
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_DEVICE = 101, MISMATCH = 803 };

int EXPORT cuInit(unsigned flags);
int EXPORT cuDriverGetVersion(int *version);
int EXPORT cuDeviceGetCount(int *count);
int EXPORT cuDeviceGet(int *device, int ordinal);
int EXPORT cuDeviceGetName(char *name, int size, int device);
int EXPORT cuDeviceTotalMem_v2(size_t *bytes, int device);
int EXPORT cuGetErrorName(int error, const char **name);

static bool is(const char *behaviour)
{
    const char *wanted = getenv("FAKE_CUDA");
    return wanted && strcmp(wanted, behaviour) == 0;
}

int cuInit(unsigned flags)
{
    int *volatile nowhere = NULL;
    (void)flags;
    while (is("hanging-init"))
        pause();
    if (is("crashing-init"))
        *nowhere = 1;
    if (is("mismatch"))
        return MISMATCH;
    return is("no-device") ? NO_DEVICE : SUCCESS;
}

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = 2;
    return SUCCESS;
}

/* Handles that are no ordinals. */
int cuDeviceGet(int *device, int ordinal)
{
    *device = 70 + ordinal;
    return ordinal < 2 ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "Fake GeForce %d", device - 69);
    return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)(device - 69) << 33;
    return SUCCESS;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == MISMATCH ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : "CUDA_ERROR_NO_DEVICE";
    return error == MISMATCH || error == NO_DEVICE ? SUCCESS : INVALID_VALUE;
}
