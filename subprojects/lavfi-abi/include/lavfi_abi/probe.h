// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/// Checks whether the loaded libavfilter has the pinned layouts. Examines its own
/// filters, before it gets one of ours: a private layout may change within a major,
/// and a filter with the wrong layout leads to a crash.
#ifndef LAVFI_ABI_PROBE_H
#define LAVFI_ABI_PROBE_H

#include "../lavfi_abi.h"

#include <cstring>
#include <link.h>

namespace lavfi_abi
{

/// The functions of the checked library, none of them null, and avfilter_version().
struct Library {
    const AVFilter *(*iterate)(void **opaque);
    unsigned (*pad_count)(const AVFilter *filter, int is_output);
    const char *(*pad_name)(const AVFilterPad *pads, int index);
    AVMediaType (*pad_type)(const AVFilterPad *pads, int index);
    unsigned version;
};

namespace detail
{

/// The address range of a loaded object.
struct Extent {
    uintptr_t inside;
    uintptr_t first = 0, last = 0;

    bool has(const void *address) const
    {
        auto value = reinterpret_cast<uintptr_t>(address);
        return value >= first && value < last;
    }
};

inline int find_extent(dl_phdr_info *object, size_t, void *wanted)
{
    auto *extent = static_cast<Extent *>(wanted);
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) &header = object->dlpi_phdr[i];
        if (header.p_type != PT_LOAD)
            continue;
        uintptr_t start = object->dlpi_addr + header.p_vaddr;
        first = start < first ? start : first;
        last = start + header.p_memsz > last ? start + header.p_memsz : last;
    }
    if (extent->inside < first || extent->inside >= last)
        return 0;
    extent->first = first;
    extent->last = last;
    return 1;
}

inline Extent extent_around(const void *address)
{
    Extent extent{reinterpret_cast<uintptr_t>(address)};
    dl_iterate_phdr(find_extent, &extent);
    return extent;
}

template <class Function> bool is_callback(const Extent &library, Function *function)
{
    return !function || library.has(reinterpret_cast<const void *>(function));
}

inline bool is_pixel_list(const Extent &library, const AVPixelFormat *formats)
{
    constexpr int longest = 1024;
    for (int i = 0; i < longest && library.has(formats + i); i++) {
        if (formats[i] == AV_PIX_FMT_NONE)
            return i > 0;
        if (formats[i] < 0 || formats[i] > 4 * longest)
            return false;
    }
    return false;
}

inline bool pads_agree(const Library &library, const AVFilterPad *pads, unsigned count)
{
    const Pad *ours = reinterpret_cast<const Pad *>(pads);
    for (unsigned i = 0; i < count; i++)
        if (ours[i].name != library.pad_name(pads, i) || ours[i].type != library.pad_type(pads, i))
            return false;
    return true;
}

/// Returns null, or the part of this filter that is not at its expected place.
template <class Layout>
const char *disagreement(const Library &library, const Extent &extent, const AVFilter &shown)
{
    const auto &filter = reinterpret_cast<const Layout &>(shown);
    constexpr int largest_private_size = 1 << 28;
    const uint8_t pixel_list = formats_pixel_list(library.version);

    if (filter.nb_inputs != library.pad_count(&shown, 0) ||
        filter.nb_outputs != library.pad_count(&shown, 1))
        return "the numbers of pads";
    if (!pads_agree(library, shown.inputs, filter.nb_inputs) ||
        !pads_agree(library, shown.outputs, filter.nb_outputs))
        return "AVFilterPad";
    if (filter.formats_state > pixel_list + 3)
        return "the state of the formats";
    if (filter.formats_state == formats_query_function && !extent.has(filter.formats.pixels_list))
        return "the query function";
    if (filter.formats_state == pixel_list &&
        (!is_pixel_list(extent, filter.formats.pixels_list) ||
         library.pad_type(filter.nb_inputs ? shown.inputs : shown.outputs, 0) !=
             AVMEDIA_TYPE_VIDEO))
        return "the list of pixel formats";
    if (!is_callback(extent, filter.preinit) || !is_callback(extent, filter.init) ||
        !is_callback(extent, filter.uninit) || !is_callback(extent, filter.process_command) ||
        !is_callback(extent, filter.activate))
        return "the callbacks";
    if (filter.priv_size < 0 || filter.priv_size > largest_private_size ||
        (shown.priv_class && filter.priv_size < int(sizeof(AVClass *))))
        return "the size of the private data";
    return nullptr;
}

inline const AVFilter *find(const Library &library, const char *name)
{
    void *position = nullptr;
    while (const AVFilter *filter = library.iterate(&position))
        if (!strcmp(filter->name, name))
            return filter;
    return nullptr;
}

} // namespace detail

/// Returns null if the library's own filters have the pinned layout; else the part that
/// differs, for messages, in static storage. Calls only `library`, writes nothing, and
/// reads only the memory that is mapped with the library's filters. `Layout` differs from
/// the pinned one only in tests of the probe.
template <class Layout = Filter> const char *disagreement(const Library &library)
{
    const AVFilter *sink = detail::find(library, "buffersink");
    if (!sink)
        return "the list of filters";
    const detail::Extent extent = detail::extent_around(sink);
    if (!reinterpret_cast<const Layout *>(sink)->activate)
        return "activate";

    void *position = nullptr;
    while (const AVFilter *filter = library.iterate(&position)) {
        // Filters from other modules may have any layout.
        if (!extent.has(filter) || !extent.has(reinterpret_cast<const Layout *>(filter) + 1))
            continue;
        if (const char *what = detail::disagreement<Layout>(library, extent, *filter))
            return what;
    }
    return nullptr;
}

} // namespace lavfi_abi

#endif
