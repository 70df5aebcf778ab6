/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A driver for the loader of Level Zero, without any device behind it.  The
 * loader opens it where ZE_ENABLE_ALT_DRIVERS names it; FAKE_ZE says how it is:
 *
 *   no-device         starts well and has none
 *   two-devices       a GPU and another one
 *   npu               one device, which is no GPU
 *   old-api           as two-devices, of Level Zero 1.0
 *   failing-init      its init fails
 *   nothing-to-drive  its init fails as Intel's does without a device
 *   hanging-init      its init never returns
 *   crashing-init     its init writes through a null pointer
 *   hanging-load      it does not even get loaded
 *   printing          as two-devices, and prints much to both outputs
 */
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The loader never looks into handles. */
static char driver_object, device_objects[2];

static bool is(const char *behaviour)
{
    const char *wanted = getenv("FAKE_ZE");
    return wanted && strcmp(wanted, behaviour) == 0;
}

static void hang(void)
{
    for (;;)
        pause();
}

static void print_much(void)
{
    for (int line = 0; line < 5000; line++) {
        printf("device the driver's own words\n\nend\n");
        fprintf(stderr, "device the driver's own words\n");
    }
    fflush(stdout);
}

__attribute__((constructor)) static void loaded(void)
{
    if (is("hanging-load"))
        hang();
}

static ze_result_t ZE_APICALL fake_init(ze_init_flags_t flags)
{
    int *volatile nowhere = NULL;
    (void)flags;
    if (is("hanging-init"))
        hang();
    if (is("crashing-init"))
        *nowhere = 1;
    if (is("printing"))
        print_much();
    if (is("failing-init"))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    return is("nothing-to-drive") ? ZE_RESULT_ERROR_UNINITIALIZED : ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL fake_driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    if (drivers && *count)
        drivers[0] = (ze_driver_handle_t)&driver_object;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL fake_driver_get_api_version(ze_driver_handle_t driver,
                                                          ze_api_version_t *version)
{
    (void)driver;
    *version = is("old-api") ? ZE_API_VERSION_1_0 : ZE_API_VERSION_1_4;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL fake_driver_get_properties(ze_driver_handle_t driver,
                                                         ze_driver_properties_t *properties)
{
    (void)driver;
    properties->driverVersion = 1u << 24 | 3u << 16 | 27191u;
    return ZE_RESULT_SUCCESS;
}

static uint32_t device_count(void)
{
    if (is("no-device"))
        return 0;
    return is("npu") ? 1 : 2;
}

static ze_result_t ZE_APICALL fake_device_get(ze_driver_handle_t driver, uint32_t *count,
                                              ze_device_handle_t *devices)
{
    uint32_t number = device_count();
    (void)driver;
    for (uint32_t i = 0; devices && i < number && i < *count; i++)
        devices[i] = (ze_device_handle_t)&device_objects[i];
    *count = number;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL fake_device_get_properties(ze_device_handle_t device,
                                                         ze_device_properties_t *properties)
{
    bool second = (void *)device == &device_objects[1];
    properties->type = is("npu") ? ZE_DEVICE_TYPE_VPU : ZE_DEVICE_TYPE_GPU;
    properties->numSlices = 2;
    properties->numSubslicesPerSlice = 4;
    properties->numEUsPerSubslice = second ? 8 : 16;
    snprintf(properties->name, sizeof(properties->name), "Fake Graphics %d", second ? 2 : 1);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL fake_device_get_memory(ze_device_handle_t device, uint32_t *count,
                                                     ze_device_memory_properties_t *properties)
{
    (void)device;
    for (uint32_t i = 0; properties && i < 2 && i < *count; i++)
        properties[i].totalSize = 4ull << 30;
    *count = 2;
    return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t ZE_APICALL zeGetGlobalProcAddrTable(ze_api_version_t version,
                                                       ze_global_dditable_t *table)
{
    (void)version;
    table->pfnInit = fake_init;
    return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                       ze_driver_dditable_t *table)
{
    (void)version;
    table->pfnGet = fake_driver_get;
    table->pfnGetApiVersion = fake_driver_get_api_version;
    table->pfnGetProperties = fake_driver_get_properties;
    return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t ZE_APICALL zeGetDeviceProcAddrTable(ze_api_version_t version,
                                                       ze_device_dditable_t *table)
{
    (void)version;
    table->pfnGet = fake_device_get;
    table->pfnGetProperties = fake_device_get_properties;
    table->pfnGetMemoryProperties = fake_device_get_memory;
    return ZE_RESULT_SUCCESS;
}

/*
 * Loader 1.8 wants the other tables of the first release too.  Nothing
 * in them is called, so that those of the tools go without their types.
 */
#define EMPTY_TABLE(function, type)                                                                \
    EXPORT ze_result_t ZE_APICALL function(ze_api_version_t version, type *table)                  \
    {                                                                                              \
        (void)version;                                                                             \
        (void)table;                                                                               \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

EMPTY_TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
EMPTY_TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
EMPTY_TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
EMPTY_TABLE(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY_TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
EMPTY_TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
EMPTY_TABLE(zeGetEventProcAddrTable, ze_event_dditable_t)
EMPTY_TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t)
EMPTY_TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
EMPTY_TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
EMPTY_TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY_TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY_TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t)
EMPTY_TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)

EMPTY_TABLE(zetGetDeviceProcAddrTable, void)
EMPTY_TABLE(zetGetContextProcAddrTable, void)
EMPTY_TABLE(zetGetCommandListProcAddrTable, void)
EMPTY_TABLE(zetGetKernelProcAddrTable, void)
EMPTY_TABLE(zetGetModuleProcAddrTable, void)
EMPTY_TABLE(zetGetDebugProcAddrTable, void)
EMPTY_TABLE(zetGetMetricProcAddrTable, void)
EMPTY_TABLE(zetGetMetricGroupProcAddrTable, void)
EMPTY_TABLE(zetGetMetricQueryProcAddrTable, void)
EMPTY_TABLE(zetGetMetricQueryPoolProcAddrTable, void)
EMPTY_TABLE(zetGetMetricStreamerProcAddrTable, void)
EMPTY_TABLE(zetGetTracerExpProcAddrTable, void)

EMPTY_TABLE(zesGetDriverProcAddrTable, void)
EMPTY_TABLE(zesGetDeviceProcAddrTable, void)
EMPTY_TABLE(zesGetSchedulerProcAddrTable, void)
EMPTY_TABLE(zesGetPerformanceFactorProcAddrTable, void)
EMPTY_TABLE(zesGetPowerProcAddrTable, void)
EMPTY_TABLE(zesGetFrequencyProcAddrTable, void)
EMPTY_TABLE(zesGetEngineProcAddrTable, void)
EMPTY_TABLE(zesGetStandbyProcAddrTable, void)
EMPTY_TABLE(zesGetFirmwareProcAddrTable, void)
EMPTY_TABLE(zesGetMemoryProcAddrTable, void)
EMPTY_TABLE(zesGetFabricPortProcAddrTable, void)
EMPTY_TABLE(zesGetTemperatureProcAddrTable, void)
EMPTY_TABLE(zesGetPsuProcAddrTable, void)
EMPTY_TABLE(zesGetFanProcAddrTable, void)
EMPTY_TABLE(zesGetLedProcAddrTable, void)
EMPTY_TABLE(zesGetRasProcAddrTable, void)
EMPTY_TABLE(zesGetDiagnosticsProcAddrTable, void)
