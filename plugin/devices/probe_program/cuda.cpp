// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/compose.h"
#include "driver_library.h"
#include "probes.h"

#include <string>

namespace dnn_torch
{
namespace
{

constexpr const char *driver_name = "libcuda.so.1";

// The driver's C interface since CUDA 3.2, declared here so that no header of NVIDIA is needed.
using Result = int;
using Device = int;

struct Driver : DriverLibrary {
    Driver() : DriverLibrary(driver_name, "CUDA 6.0")
    {
        find(init, "cuInit");
        find(driver_version, "cuDriverGetVersion");
        find(device_count, "cuDeviceGetCount");
        find(device_get, "cuDeviceGet");
        find(device_name, "cuDeviceGetName");
        find(device_memory, "cuDeviceTotalMem_v2");
        find(error_name, "cuGetErrorName");
    }

    Result (*init)(unsigned flags) = nullptr;
    Result (*driver_version)(int *version) = nullptr;
    Result (*device_count)(int *count) = nullptr;
    Result (*device_get)(Device *device, int ordinal) = nullptr;
    Result (*device_name)(char *name, int size, Device device) = nullptr;
    Result (*device_memory)(size_t *bytes, Device device) = nullptr;
    Result (*error_name)(Result error, const char **name) = nullptr;
};

// Returns "CUDA_ERROR_NO_DEVICE, 100".
std::string describe(const Driver &driver, Result result)
{
    const char *name = nullptr;
    std::string number = std::to_string(result);
    return driver.error_name(result, &name) == 0 && name ? name + (", " + number) : number;
}

void print_device(const Driver &driver, int ordinal, const PrintRecord &print)
{
    Device device = 0;
    char name[256] = "";
    size_t memory = 0;
    if (driver.device_get(&device, ordinal) != 0 ||
        driver.device_name(name, sizeof(name), device) != 0)
        return;
    driver.device_memory(&memory, device);
    Record record;
    record.set("device", name);
    record.set("memory", std::to_string(memory));
    print(record);
}

void print_devices(const Driver &driver, const PrintRecord &print)
{
    Record record;
    int version = 0, count = 0;
    // The CUDA version that the driver supports, even if it does not start; 12040 is 12.4.
    if (driver.driver_version(&version) == 0)
        record.set("driver_version", concat(version / 1000, ".", version % 1000 / 10));
    print(record);
    record = {};
    Result result = driver.init(0);
    if (result == 0)
        result = driver.device_count(&count);
    if (result != 0) {
        record.set("init_failure", describe(driver, result));
        record.set("init_code", std::to_string(result));
        return print(record);
    }
    for (int i = 0; i < count; i++)
        print_device(driver, i, print);
}

} // namespace

void probe_cuda(const PrintRecord &print)
{
    Driver driver;
    if (driver.absent())
        return;
    Record record;
    record.set("library", driver_name);
    record.set("library_failure", driver.failure());
    print(record);
    if (driver.failure().empty())
        print_devices(driver, print);
}

} // namespace dnn_torch
