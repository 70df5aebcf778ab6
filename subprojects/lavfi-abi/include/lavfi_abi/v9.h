/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* libavfilter 9: FFmpeg 6.0 and 6.1. */
#ifndef LAVFI_ABI_V9_H
#define LAVFI_ABI_V9_H

#define LAVFI_ABI_MAJOR                    9
#define LAVFI_ABI_RELEASES                 "6.0, 6.1"

/* 6.0 is 9.3 and 6.1 is 9.12; the numbers between them are development versions. */
#define LAVFI_ABI_WINDOW_FIRST AV_VERSION_INT(9, 3, 100)
#define LAVFI_ABI_EARLY_LAST   AV_VERSION_INT(9, 3, 255)
#define LAVFI_ABI_LATE_FIRST   AV_VERSION_INT(9, 12, 100)
#define LAVFI_ABI_WINDOW_LAST  AV_VERSION_INT(9, 12, 255)

/* 1: the callbacks are in FFFilter, after the public AVFilter; 0: in AVFilter itself. */
#define LAVFI_ABI_HAS_FFFILTER             0
#define LAVFI_ABI_HAS_SEGMENTS             1

/* enum FilterFormatsState */
#define LAVFI_ABI_FORMATS_PASSTHROUGH      0
#define LAVFI_ABI_FORMATS_QUERY_FUNC       1
#define LAVFI_ABI_FORMATS_PIXFMT_LIST      2

/* struct AVFilterPad */
#define LAVFI_ABI_PAD_SIZE                 48
#define LAVFI_ABI_PAD_NAME                 0
#define LAVFI_ABI_PAD_TYPE                 8
#define LAVFI_ABI_PAD_FLAGS                12
#define LAVFI_ABI_PAD_GET_BUFFER           16
#define LAVFI_ABI_PAD_FILTER_FRAME         24
#define LAVFI_ABI_PAD_REQUEST_FRAME        32
#define LAVFI_ABI_PAD_CONFIG_PROPS         40

/* AVFilter */
#define LAVFI_ABI_FILTER_SIZE              104
#define LAVFI_ABI_FILTER_NAME              0
#define LAVFI_ABI_FILTER_DESCRIPTION       8
#define LAVFI_ABI_FILTER_INPUTS            16
#define LAVFI_ABI_FILTER_OUTPUTS           24
#define LAVFI_ABI_FILTER_PRIV_CLASS        32
#define LAVFI_ABI_FILTER_FLAGS             40
#define LAVFI_ABI_FILTER_NB_INPUTS         44
#define LAVFI_ABI_FILTER_NB_OUTPUTS        45
#define LAVFI_ABI_FILTER_FORMATS_STATE     46
#define LAVFI_ABI_FILTER_PREINIT           48
#define LAVFI_ABI_FILTER_INIT              56
#define LAVFI_ABI_FILTER_UNINIT            64
#define LAVFI_ABI_FILTER_FORMATS           72
#define LAVFI_ABI_FILTER_PRIV_SIZE         80
#define LAVFI_ABI_FILTER_FLAGS_INTERNAL    84
#define LAVFI_ABI_FILTER_PROCESS_COMMAND   88
#define LAVFI_ABI_FILTER_ACTIVATE          96

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
#define LAVFI_ABI_CONTEXT_NB_THREADS       152
#define LAVFI_ABI_CONTEXT_IS_DISABLED      136

/* AVFilterLink */
#define LAVFI_ABI_LINK_SRC                 0
#define LAVFI_ABI_LINK_SRCPAD              8
#define LAVFI_ABI_LINK_DST                 16
#define LAVFI_ABI_LINK_DSTPAD              24
#define LAVFI_ABI_LINK_TYPE                32
#define LAVFI_ABI_LINK_FORMAT              68
#define LAVFI_ABI_LINK_W                   36
#define LAVFI_ABI_LINK_H                   40
#define LAVFI_ABI_LINK_SAMPLE_ASPECT_RATIO 44
#define LAVFI_ABI_LINK_TIME_BASE           72
#define LAVFI_ABI_LINK_INCFG               104
#define LAVFI_ABI_LINK_OUTCFG              128

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
