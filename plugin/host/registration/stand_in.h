// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Stand-ins: libavfilter parses a graph in which each filter of ours is a
// `null` with a name of its own, and afterwards ours takes that place.
#pragma once

#include "graph_text.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <string>
#include <vector>

namespace dnn_torch
{

struct StandIn {
    FilterText text;
    const AVFilter *filter;   // ours
    std::string name;         // the stand-in's instance, unique in the process
    std::string context_name; // the stand-in's name in the graph
};

struct StandInText {
    std::string text; // for libavfilter
    std::vector<StandIn> stand_ins;
};

// `filters` ends with NULL.  The text is as it came where none of them is in it,
// or where libavfilter will find a fault in it before it looks for filters.
StandInText with_stand_ins(const char *text, const AVFilter *const *filters);

// Makes, initialises and links our filter in the stand-in's place, and frees
// the stand-in.  `ends` are the graph's open ends, which may name it.
// An AVERROR leaves the graph to be freed by the caller.
int take_place(AVFilterGraph *graph, const StandIn &stand_in,
               const std::vector<AVFilterInOut *> &ends, void *log_ctx);

} // namespace dnn_torch
