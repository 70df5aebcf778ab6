// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

/// The internals of libavfilter that a filter outside of it needs: the layouts of
/// AVFilterPad, AVFilterFormats and AVFilter / FFFilter, and the versions for which they
/// hold. One libavfilter major per translation unit: that of the headers with which it is
/// compiled. The numbers are in lavfi_abi/vN.h; check/ compares them with these
/// declarations and with FFmpeg's own.
#ifndef LAVFI_ABI_H
#define LAVFI_ABI_H

#include <cstddef>
#include <cstdint>

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/version.h>
}
#include "lavfi_abi/select.h"

static_assert(sizeof(void *) == 8 && sizeof(int) == 4, "only LP64 layouts are pinned");

namespace lavfi_abi
{

/// struct AVFilterPad, which no installed header shows. Must have static storage: a
/// filter's pads outlive every graph.
struct Pad {
    const char *name;
    AVMediaType type;
    int flags;
    AVFrame *(*get_buffer)(AVFilterLink *link, int width, int height);
    int (*filter_frame)(AVFilterLink *link, AVFrame *frame);
    int (*request_frame)(AVFilterLink *link);
    int (*config_props)(AVFilterLink *link);
};

/// struct AVFilterFormats, which no installed header shows: the formats that one end of a
/// link takes, and every pointer to the list. libavfilter merges the lists of the two
/// ends. It frees a list and its arrays with av_free(), once no pointer is left.
struct FormatList {
    unsigned nb_formats;
    int *formats;
    unsigned refcount;
    FormatList ***refs;
};

/// Return a link's formats for its source, and those for its destination.
inline FormatList **source_formats(AVFilterLink *link)
{
    return reinterpret_cast<FormatList **>(&link->incfg.formats);
}
inline FormatList **destination_formats(AVFilterLink *link)
{
    const size_t offset = LAVFI_ABI_IN(avfilter_version(), LINK_OUTCFG);
    return reinterpret_cast<FormatList **>(reinterpret_cast<char *>(link) + offset);
}

#if LAVFI_ABI_HAS_FFFILTER
/// struct FFFilter.
struct Filter {
    AVFilter p;
    uint8_t nb_inputs;
    uint8_t nb_outputs;
    uint8_t formats_state;
    int (*preinit)(AVFilterContext *ctx);
    int (*init)(AVFilterContext *ctx);
    void (*uninit)(AVFilterContext *ctx);
    union {
        int (*query_func)(AVFilterContext *ctx);
        const AVPixelFormat *pixels_list;
        AVPixelFormat pix_fmt;
    } formats;
    int priv_size;
    int flags_internal;
    int (*process_command)(AVFilterContext *ctx, const char *command, const char *argument,
                           char *result, int result_size, int flags);
    int (*activate)(AVFilterContext *ctx);
};

constexpr AVFilter &public_part(Filter &filter)
{
    return filter.p;
}
constexpr const AVFilter &public_part(const Filter &filter)
{
    return filter.p;
}
#else
using Filter = AVFilter;

constexpr AVFilter &public_part(Filter &filter)
{
    return filter;
}
constexpr const AVFilter &public_part(const Filter &filter)
{
    return filter;
}
#endif

/// Returns a filter's pads with the type of its public part.
inline const AVFilterPad *as_pads(const Pad *pads)
{
    return reinterpret_cast<const AVFilterPad *>(pads);
}

/// Returns the whole of a pad that a filter declares.
inline const Pad &whole_pad(const AVFilterPad *pad)
{
    return *reinterpret_cast<const Pad *>(pad);
}

/// FF_FILTER_FORMATS_*, for Filter::formats_state; that of a list depends on the version of
/// the loaded library.
inline constexpr uint8_t formats_passthrough = LAVFI_ABI_FORMATS_PASSTHROUGH;
inline constexpr uint8_t formats_query_function = LAVFI_ABI_FORMATS_QUERY_FUNC;
constexpr uint8_t formats_pixel_list(unsigned version)
{
    return LAVFI_ABI_IN(version, FORMATS_PIXFMT_LIST);
}

/// AVFILTER_FLAG_SUPPORT_TIMELINE_*: with `generic`, libavfilter bypasses a filter
/// while it is disabled, which it cannot do for one with activate(); with `internal`,
/// the filter checks AVFilterContext.is_disabled itself.
inline constexpr int flag_timeline_generic = AVFILTER_FLAG_SUPPORT_TIMELINE_GENERIC;
inline constexpr int flag_timeline_internal = AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL;

/// AVFILTERPAD_FLAG_NEEDS_WRITABLE, AVFILTERPAD_FLAG_FREE_NAME (libavfilter frees the pad's
/// name with av_free()) and FF_FILTER_FLAG_HWFRAME_AWARE.
inline constexpr int pad_flag_needs_writable = 1 << 0;
inline constexpr int pad_flag_free_name = 1 << 1;
inline constexpr int internal_flag_hwframe_aware = 1 << 0;

/// Values of avfilter_version() for which the above is known to hold, ends
/// included, within one major; in_window() leaves out development versions in between.
inline constexpr unsigned window_first = LAVFI_ABI_WINDOW_FIRST;
inline constexpr unsigned window_last = LAVFI_ABI_WINDOW_LAST;

/// The FFmpeg releases in that window, for messages.
inline constexpr const char *ffmpeg_releases = LAVFI_ABI_RELEASES;

constexpr bool in_window(unsigned version)
{
    return LAVFI_ABI_IN_WINDOW(version);
}

static_assert(in_window(LIBAVFILTER_VERSION_INT),
              "the installed libavfilter is outside the window of its pinned ABI");
static_assert(AV_VERSION_MAJOR(window_first) == LIBAVFILTER_VERSION_MAJOR &&
                  AV_VERSION_MAJOR(window_last) == LIBAVFILTER_VERSION_MAJOR,
              "a window never reaches into another major");

} // namespace lavfi_abi

#endif
