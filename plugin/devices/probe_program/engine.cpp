// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probes.h"

#include "base/compose.h"
#include "base/engine_handshake.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

namespace dnn_torch
{
namespace
{

template <class Function> Function *look_up(void *library, const char *name)
{
    return reinterpret_cast<Function *>(dlsym(library, name));
}

// Declared as in oneDNN's C interface since 1.0.
struct OneDnnVersion {
    int major, minor, patch;
    const char *hash;
};

// oneDNN has a bit for each instruction set.  Most of AMX's moved between versions 2
// and 3; 0x200 did not.
std::string instruction_set(unsigned isa)
{
    struct Level {
        unsigned bit;
        const char *name;
    };
    constexpr Level levels[] = {
        {0x200, "AMX"},    {0x80, "AVX-512 bf16"}, {0x40, "AVX-512 VNNI"},
        {0x20, "AVX-512"}, {0x4, "AVX2"},          {0x2, "AVX"},
    };
    for (const Level &level : levels)
        if (isa & level.bit)
            return level.name;
    return isa ? "SSE4.1" : "";
}

// Adds the libraries that the engine loaded.  Finds none in builds that link them statically.
void add_libraries(void *engine, Record &record)
{
    if (auto *version = look_up<const OneDnnVersion *()>(engine, "dnnl_version"))
        record.set("onednn",
                   concat(version()->major, ".", version()->minor, ".", version()->patch));
    if (auto *isa = look_up<unsigned()>(engine, "dnnl_get_effective_cpu_isa"))
        record.set("onednn_isa", instruction_set(isa()));
    if (auto *threads = look_up<int()>(engine, "omp_get_max_threads"))
        record.set("openmp_threads", std::to_string(threads()));
}

Record record_of(const DnnTorchDevice &device)
{
    Record record;
    record.set("device", device.name);
    record.set("description", device.description);
    record.set("memory", std::to_string(device.memory));
    record.set("state", std::to_string(device.state));
    record.set("reason", device.reason);
    record.set("remedy", device.remedy);
    return record;
}

std::vector<DnnTorchDevice> devices_of(const DnnTorchEngine &engine)
{
    std::vector<DnnTorchDevice> devices(16);
    for (;;) {
        size_t capacity = devices.size();
        devices.assign(capacity, DnnTorchDevice{.size = sizeof(DnnTorchDevice)});
        size_t count = engine.list_devices(devices.data(), capacity);
        devices.resize(count);
        if (count <= capacity)
            return devices;
    }
}

EngineGreeting engine_in(const std::string &path, void *library)
{
    if (!library)
        return {.engine = nullptr, .fault = dlerror()};
    EngineGreeting greeting = greet_engine(library);
    // Keeps only the fault, because the verdict has a remedy of its own.
    if (!greeting.engine)
        greeting.fault = concat(path, " ", greeting.fault.substr(0, greeting.fault.find(';')));
    return greeting;
}

} // namespace

void probe_engine(const std::string &engine_path, const PrintRecord &print)
{
    void *library = dlopen(engine_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto [engine, fault] = engine_in(engine_path, library);
    Record record;
    if (!engine) {
        record.set("failure", fault);
        return print(record);
    }
    record.set("engine", engine->name);
    record.set("version", engine->version);
    record.set("lists_devices", engine->list_devices ? "1" : "0");
    add_libraries(library, record);
    print(record);
    if (engine->list_devices)
        for (const DnnTorchDevice &device : devices_of(*engine))
            print(record_of(device));
}

} // namespace dnn_torch
