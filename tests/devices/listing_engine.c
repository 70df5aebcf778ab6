/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An engine that lists devices and does nothing else.  LISTING_ENGINE says which:
 * "NAME|DESCRIPTION|MEMORY|STATE|REASON|REMEDY" for each, semicolons between them, with the
 * number of a DnnTorchDeviceState; or
 *
 *   no-list   has no function for it
 *   crash     crashes when it is asked
 *   hang      does not come back
 *   abi       is of another release
 *
 * LISTING_ENGINE_LOG names a file that is made when the engine is asked.
 */
#include "dnn_torch/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *wanted(void)
{
    const char *behaviour = getenv("LISTING_ENGINE");
    return behaviour ? behaviour : "";
}

static void leave_a_trace(void)
{
    const char *log = getenv("LISTING_ENGINE_LOG");
    FILE *file = log ? fopen(log, "w") : NULL;
    if (file)
        fclose(file);
}

static void fill(DnnTorchDevice *device, char *line)
{
    const char *fields[6] = {"", "", "", "", "", ""};
    for (int i = 0; i < 6 && line; i++)
        fields[i] = strsep(&line, "|");
    memset(device, 0, sizeof(*device));
    device->size = sizeof(*device);
    snprintf(device->name, sizeof(device->name), "%s", fields[0]);
    snprintf(device->description, sizeof(device->description), "%s", fields[1]);
    device->memory = strtoll(fields[2], NULL, 10);
    device->state = (int32_t)strtol(fields[3], NULL, 10);
    snprintf(device->reason, sizeof(device->reason), "%s", fields[4]);
    snprintf(device->remedy, sizeof(device->remedy), "%s", fields[5]);
}

static size_t list_devices(DnnTorchDevice *devices, size_t capacity)
{
    volatile int *nowhere = NULL;
    char *lines, *rest, *line;
    size_t count = 0;

    leave_a_trace();
    if (strcmp(wanted(), "crash") == 0)
        *nowhere = 1;
    while (strcmp(wanted(), "hang") == 0)
        pause();
    rest = lines = strdup(wanted());
    while ((line = strsep(&rest, ";")) && *line) {
        if (count < capacity)
            fill(&devices[count], line);
        count++;
    }
    free(lines);
    return count;
}

__attribute__((visibility("default"))) const DnnTorchEngine *dnn_torch_engine(uint32_t host_abi)
{
    static DnnTorchEngine engine = {
        .abi = DNN_TORCH_ENGINE_ABI,
        .size = sizeof(DnnTorchEngine),
        .name = "listing",
        .version = "1",
        .list_devices = list_devices,
    };
    if (strcmp(wanted(), "no-list") == 0)
        engine.list_devices = NULL;
    return strcmp(wanted(), "abi") == 0 || host_abi != DNN_TORCH_ENGINE_ABI ? NULL : &engine;
}
