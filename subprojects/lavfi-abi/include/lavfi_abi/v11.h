/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* libavfilter 11: FFmpeg 8.0 and 8.1.
 *
 * The public AVFilter ends with its flags. The callbacks are in FFFilter, which
 * begins with AVFilter and is in no installed header. */
#ifndef LAVFI_ABI_V11_H
#define LAVFI_ABI_V11_H

#define LAVFI_ABI_MAJOR                    11
#define LAVFI_ABI_RELEASES                 "8.0, 8.1"

/* 8.0 is 11.4 and 8.1 is 11.14; the numbers between them are development versions. */
#define LAVFI_ABI_WINDOW_FIRST AV_VERSION_INT(11, 4, 100)
#define LAVFI_ABI_EARLY_LAST   AV_VERSION_INT(11, 4, 255)
#define LAVFI_ABI_LATE_FIRST   AV_VERSION_INT(11, 14, 100)
#define LAVFI_ABI_WINDOW_LAST  AV_VERSION_INT(11, 14, 255)

/* 1: the callbacks are in FFFilter, after the public AVFilter; 0: in AVFilter itself. */
#define LAVFI_ABI_HAS_FFFILTER             1
#define LAVFI_ABI_HAS_SEGMENTS             1

/* enum FilterFormatsState */
#define LAVFI_ABI_FORMATS_PASSTHROUGH      0
#define LAVFI_ABI_FORMATS_QUERY_FUNC       1
#define LAVFI_ABI_FORMATS_PIXFMT_LIST      3

/* struct AVFilterPad */
#define LAVFI_ABI_PAD_SIZE                 48
#define LAVFI_ABI_PAD_NAME                 0
#define LAVFI_ABI_PAD_TYPE                 8
#define LAVFI_ABI_PAD_FLAGS                12
#define LAVFI_ABI_PAD_GET_BUFFER           16
#define LAVFI_ABI_PAD_FILTER_FRAME         24
#define LAVFI_ABI_PAD_REQUEST_FRAME        32
#define LAVFI_ABI_PAD_CONFIG_PROPS         40

/* FFFilter */
#define LAVFI_ABI_FILTER_SIZE              112
#define LAVFI_ABI_FILTER_NAME              0
#define LAVFI_ABI_FILTER_DESCRIPTION       8
#define LAVFI_ABI_FILTER_INPUTS            16
#define LAVFI_ABI_FILTER_OUTPUTS           24
#define LAVFI_ABI_FILTER_PRIV_CLASS        32
#define LAVFI_ABI_FILTER_FLAGS             40
#define LAVFI_ABI_FILTER_NB_INPUTS         48
#define LAVFI_ABI_FILTER_NB_OUTPUTS        49
#define LAVFI_ABI_FILTER_FORMATS_STATE     50
#define LAVFI_ABI_FILTER_PREINIT           56
#define LAVFI_ABI_FILTER_INIT              64
#define LAVFI_ABI_FILTER_UNINIT            72
#define LAVFI_ABI_FILTER_FORMATS           80
#define LAVFI_ABI_FILTER_PRIV_SIZE         88
#define LAVFI_ABI_FILTER_FLAGS_INTERNAL    92
#define LAVFI_ABI_FILTER_PROCESS_COMMAND   96
#define LAVFI_ABI_FILTER_ACTIVATE          104

/* AVFilterContext */
#define LAVFI_ABI_CONTEXT_AV_CLASS         0
#define LAVFI_ABI_CONTEXT_FILTER           8
#define LAVFI_ABI_CONTEXT_NAME             16
#define LAVFI_ABI_CONTEXT_INPUT_PADS       24
#define LAVFI_ABI_CONTEXT_INPUTS           32
#define LAVFI_ABI_CONTEXT_NB_INPUTS        40
#define LAVFI_ABI_CONTEXT_OUTPUT_PADS      48
#define LAVFI_ABI_CONTEXT_OUTPUTS          56
#define LAVFI_ABI_CONTEXT_NB_OUTPUTS       64
#define LAVFI_ABI_CONTEXT_PRIV             72
#define LAVFI_ABI_CONTEXT_GRAPH            80
#define LAVFI_ABI_CONTEXT_THREAD_TYPE      88
#define LAVFI_ABI_CONTEXT_NB_THREADS       92
#define LAVFI_ABI_CONTEXT_IS_DISABLED      128

/* AVFilterLink */
#define LAVFI_ABI_LINK_SRC                 0
#define LAVFI_ABI_LINK_SRCPAD              8
#define LAVFI_ABI_LINK_DST                 16
#define LAVFI_ABI_LINK_DSTPAD              24
#define LAVFI_ABI_LINK_TYPE                32
#define LAVFI_ABI_LINK_FORMAT              36
#define LAVFI_ABI_LINK_W                   40
#define LAVFI_ABI_LINK_H                   44
#define LAVFI_ABI_LINK_SAMPLE_ASPECT_RATIO 48
#define LAVFI_ABI_LINK_TIME_BASE           96
#define LAVFI_ABI_LINK_INCFG               120
#define LAVFI_ABI_LINK_OUTCFG              168
#define LAVFI_ABI_EARLY_LINK_OUTCFG        160

/* struct AVFilterFormats */
#define LAVFI_ABI_FORMAT_LIST_SIZE         32
#define LAVFI_ABI_FORMAT_LIST_NB_FORMATS   0
#define LAVFI_ABI_FORMAT_LIST_FORMATS      8
#define LAVFI_ABI_FORMAT_LIST_REFCOUNT     16
#define LAVFI_ABI_FORMAT_LIST_REFS         24

/* AVFilterGraph */
#define LAVFI_ABI_GRAPH_FILTERS            8
#define LAVFI_ABI_GRAPH_NB_FILTERS         16
#define LAVFI_ABI_GRAPH_SCALE_SWS_OPTS     24

#endif
