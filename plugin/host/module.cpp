// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The host module's one exported function: checks the loaded libavfilter against the one that the
// module was built for, and returns the module's filters.
#include "dnn_torch/filter_module.h"

#include "guard.h"
#include "host/filters/filter_table.h"
#include "host/filters/filters.h"
#include "host/libavfilter/parked_graphs.h"
#include "host/libavfilter/real_registry.h"
#include "host/libavfilter/registry.h"
#include "host/libavfilter/self_test.h"

#include "base/lavfi_registry.h"

#include <lavfi_abi.h>
#include <lavfi_abi/probe.h>

#include <cstdio>
#include <dlfcn.h>
#include <mutex>
#include <string>

namespace dnn_torch
{
namespace
{

// A program may contain a libavfilter of its own in addition to the one that this module is linked
// to.  Its graphs must not be touched then.
bool is_linked_to(const void *function)
{
    Dl_info theirs, ours;
    return dladdr(function, &theirs) &&
           dladdr(reinterpret_cast<const void *>(&avfilter_graph_alloc), &ours) &&
           theirs.dli_fbase == ours.dli_fbase;
}

// Looks the functions up in the library, because under the preload object their plain names are
// its wrappers.
FilterRegistry linked_registry()
{
    Dl_info info;
    void *library = dladdr(reinterpret_cast<const void *>(&avfilter_graph_alloc), &info)
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : nullptr;
    return dnn_torch_registry_of(library);
}

std::string find_fault(const FilterModuleHost &host)
{
    if (host.abi != FILTER_MODULE_ABI)
        return "module ABI " + std::to_string(host.abi) + " is asked for and this is " +
               std::to_string(FILTER_MODULE_ABI);
    if (!lavfi_abi::in_window(host.lavfi_version))
        return both_versions(host.lavfi_version);
    if (host.real && !is_linked_to(reinterpret_cast<const void *>(host.real->graph_parse_ptr)))
        return "the program uses another libavfilter than the system's; " +
               both_versions(host.lavfi_version);
    set_real_registry(host.real ? *host.real : linked_registry());
    const lavfi_abi::Library library = {real_registry().iterate, avfilter_filter_pad_count,
                                        avfilter_pad_get_name, avfilter_pad_get_type,
                                        avfilter_version()};
    if (const char *what = lavfi_abi::disagreement(library))
        return std::string(what) + " of its own filters: not as pinned; " +
               both_versions(host.lavfi_version);
    return {};
}

FilterModule describe(const FilterRegistry *wrappers)
{
    return {FILTER_MODULE_ABI,
            "ffmpeg-dnn-torch " PROJECT_VERSION,
            LIBAVFILTER_VERSION_INT,
            registered_filters(),
            wrappers,
            gate_fault};
}

const FilterModule *open_module(const FilterModuleHost &host)
{
    // A patched libavfilter opens us again while we look at its filters.
    static std::recursive_mutex mutex;
    std::lock_guard lock(mutex);
    register_filters(all_filters());
    set_parked_filter(parked_filter());
    static const FilterModule extending = describe(registry_wrappers());
    static const FilterModule served = describe(&real_registry());
    std::string fault = find_fault(host);
    if (!fault.empty()) {
        snprintf(host.message, host.message_size, "%s", fault.c_str());
        return nullptr;
    }
    bool has_ours = host.real && host.real->get_by_name(registered_filters()[0]->name);
    return has_ours ? &served : &extending;
}

} // namespace
} // namespace dnn_torch

extern "C" __attribute__((visibility("default"))) const FilterModule *
filter_module_open(const FilterModuleHost *host)
{
    const FilterModule *module = nullptr;
    dnn_torch::guarded(nullptr, [&] {
        module = dnn_torch::open_module(*host);
        return 0;
    });
    return module;
}
