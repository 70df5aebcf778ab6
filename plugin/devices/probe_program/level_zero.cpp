// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/compose.h"
#include "driver_library.h"
#include "probes.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <sstream>
#include <vector>

namespace dnn_torch
{
namespace
{

constexpr const char *loader_name = "libze_loader.so.1";

// The files that the loaders 1.8 to 1.32 search by default.
constexpr const char *default_drivers = "libze_intel_gpu.so.1,libze_intel_gpu_legacy1.so.1,"
                                        "libze_intel_vpu.so.1,libze_intel_npu.so.1";

// All of these functions are in the first release of Level Zero.
struct Loader : DriverLibrary {
    Loader() : DriverLibrary(loader_name, "Level Zero 1.0")
    {
        find(init, "zeInit");
        find(driver_get, "zeDriverGet");
        find(driver_version, "zeDriverGetApiVersion");
        find(driver_properties, "zeDriverGetProperties");
        find(device_get, "zeDeviceGet");
        find(device_properties, "zeDeviceGetProperties");
        find(memory_properties, "zeDeviceGetMemoryProperties");
    }

    decltype(&zeInit) init = nullptr;
    decltype(&zeDriverGet) driver_get = nullptr;
    decltype(&zeDriverGetApiVersion) driver_version = nullptr;
    decltype(&zeDriverGetProperties) driver_properties = nullptr;
    decltype(&zeDeviceGet) device_get = nullptr;
    decltype(&zeDeviceGetProperties) device_properties = nullptr;
    decltype(&zeDeviceGetMemoryProperties) memory_properties = nullptr;
};

std::string describe(ze_result_t result)
{
    char number[16];
    snprintf(number, sizeof(number), "0x%08x", static_cast<unsigned>(result));
    switch (result) {
    case ZE_RESULT_ERROR_UNINITIALIZED:
        return concat("UNINITIALIZED, ", number);
    case ZE_RESULT_ERROR_DEVICE_LOST:
        return concat("DEVICE_LOST, ", number);
    case ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS:
        return concat("INSUFFICIENT_PERMISSIONS, ", number);
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE:
        return concat("DEPENDENCY_UNAVAILABLE, ", number);
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
        return concat("UNSUPPORTED_VERSION, ", number);
    default:
        return number;
    }
}

std::string path_of(const Loader &loader)
{
    Dl_info info;
    bool known = dladdr(reinterpret_cast<const void *>(loader.init), &info) && info.dli_fname;
    char *path = known ? realpath(info.dli_fname, nullptr) : nullptr;
    std::string found = path ? path : loader_name;
    std::free(path);
    return found;
}

// Tries the driver's file here, because the loader does not report files that it cannot load.
void print_driver_file(const std::string &name, const PrintRecord &print)
{
    Record record;
    record.set("driver_file", name);
    bool loads = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    std::string failure = loads ? "" : dlerror();
    record.set("present", is_absent(name, failure) ? "0" : "1");
    record.set("failure", failure);
    print(record);
}

void print_driver_files(const PrintRecord &print)
{
    const char *others = getenv("ZE_ENABLE_ALT_DRIVERS");
    std::istringstream names(others ? others : default_drivers);
    for (std::string name; std::getline(names, name, ',');)
        print_driver_file(name, print);
}

// Reads a list of Level Zero twice: for the count, then for the entries.
template <class Handle, class Get> std::vector<Handle> list(Get get)
{
    uint32_t count = 0;
    if (get(&count, nullptr) != ZE_RESULT_SUCCESS)
        return {};
    std::vector<Handle> handles(count);
    if (count && get(&count, handles.data()) != ZE_RESULT_SUCCESS)
        return {};
    handles.resize(count);
    return handles;
}

const char *type_name(ze_device_type_t type)
{
    switch (type) {
    case ZE_DEVICE_TYPE_GPU:
        return "gpu";
    case ZE_DEVICE_TYPE_CPU:
        return "cpu";
    case ZE_DEVICE_TYPE_FPGA:
        return "fpga";
    case ZE_DEVICE_TYPE_MCA:
        return "mca";
    case ZE_DEVICE_TYPE_VPU:
        return "npu"; // its later name
    default:
        return "other";
    }
}

uint64_t memory_of(const Loader &loader, ze_device_handle_t device)
{
    uint32_t count = 0;
    if (loader.memory_properties(device, &count, nullptr) != ZE_RESULT_SUCCESS)
        return 0;
    std::vector<ze_device_memory_properties_t> parts(count);
    for (ze_device_memory_properties_t &part : parts)
        part = {ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES, nullptr, 0, 0, 0, 0, {}};
    if (count && loader.memory_properties(device, &count, parts.data()) != ZE_RESULT_SUCCESS)
        return 0;
    uint64_t bytes = 0;
    for (const ze_device_memory_properties_t &part : parts)
        bytes += part.totalSize;
    return bytes;
}

// Formats the versions of Intel's drivers like SYCL.
std::string driver_version_text(uint32_t version)
{
    return concat(version >> 24, ".", version >> 16 & 255, ".", version & 65535);
}

void describe_driver(const Loader &loader, ze_driver_handle_t driver, Record &record)
{
    ze_driver_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    if (loader.driver_properties(driver, &properties) == ZE_RESULT_SUCCESS)
        record.set("driver_version", driver_version_text(properties.driverVersion));
    ze_api_version_t version{};
    if (loader.driver_version(driver, &version) == ZE_RESULT_SUCCESS) {
        record.set("api_major", std::to_string(ZE_MAJOR_VERSION(version)));
        record.set("api_minor", std::to_string(ZE_MINOR_VERSION(version)));
    }
}

void print_device(const Loader &loader, ze_driver_handle_t driver, ze_device_handle_t device,
                  const PrintRecord &print)
{
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (loader.device_properties(device, &properties) != ZE_RESULT_SUCCESS)
        return;
    uint64_t units = uint64_t{properties.numSlices} * properties.numSubslicesPerSlice *
                     properties.numEUsPerSubslice;
    Record record;
    record.set("device", properties.name);
    record.set("type", type_name(properties.type));
    record.set("memory", std::to_string(memory_of(loader, device)));
    record.set("compute_units", std::to_string(units));
    describe_driver(loader, driver, record);
    print(record);
}

void print_drivers(const Loader &loader, const PrintRecord &print)
{
    Record record;
    ze_result_t result = loader.init(0);
    if (result != ZE_RESULT_SUCCESS) {
        record.set("init_failure", describe(result));
        record.set("init_code", std::to_string(static_cast<unsigned>(result)));
        return print(record);
    }
    auto drivers = list<ze_driver_handle_t>(loader.driver_get);
    record.set("drivers", std::to_string(drivers.size()));
    print(record);
    for (ze_driver_handle_t driver : drivers) {
        auto get = [&](uint32_t *count, ze_device_handle_t *devices) {
            return loader.device_get(driver, count, devices);
        };
        for (ze_device_handle_t device : list<ze_device_handle_t>(get))
            print_device(loader, driver, device, print);
    }
}

} // namespace

void probe_level_zero(const PrintRecord &print)
{
    Loader loader;
    if (loader.absent())
        return;
    const std::string &failure = loader.failure();
    Record record;
    record.set(failure.empty() ? "loader" : "loader_failure",
               failure.empty() ? path_of(loader) : failure);
    print(record);
    if (!failure.empty())
        return;
    print_driver_files(print);
    print_drivers(loader, print);
}

} // namespace dnn_torch
