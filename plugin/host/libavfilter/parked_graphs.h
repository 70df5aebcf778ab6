// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graphs that ffmpeg frees in mid-stream, while frames are in filters of ours.
//
// When the frame size changes, ffmpeg frees its graph and builds the same one anew on the same
// thread.  By then libavfilter's own filters have passed all frames on, but ours are still working
// on some.  So such a graph is parked instead of freed.  If a filter of ours is then created on
// that thread, there is a successor graph.  The parked graph's filters flush their frames through
// the filters downstream, and the frames come out of the successor's sinks of the same names
// before the successor's own frames.  Nothing is closed, so the filters downstream see the same as
// they do after libavfilter's own filters.  If there is no successor, the frames are dropped.  The
// graph is freed when the thread ends.
//
// Only ffmpeg's own graphs are parked; the names of their sources show them.  Players build new
// graphs when they seek, and need nothing from the old ones.
#pragma once

#include "dnn_torch/filter_module.h"
#include "host/error.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <optional>

namespace dnn_torch
{

// The functions that a parked graph calls on its filters of ours.
struct ParkedFilter {
    // Returns whether it still has frames for the filters downstream.
    bool (*holds_frames)(AVFilterContext *);
    // Sends these frames downstream.  Returns whether there were any.
    bool (*flush)(AVFilterContext *);
    // Releases all resources.  Returns the error that lost frames, if any were lost.
    std::optional<AnyError> (*release)(AVFilterContext *);
};

// The functions must live for ever.
void set_parked_filter(const ParkedFilter &functions);

// Call it when a filter is created: flushes the graphs that this thread has parked.  Returns the
// error that lost frames, if any were lost.
std::optional<AnyError> flush_parked_graphs();

// Returns whether the program ffmpeg built the graph.  False before the graph has its sources.
bool is_of_ffmpeg(const AVFilterGraph &graph);

// Adds avfilter_graph_free(), avfilter_graph_request_oldest() and
// av_buffersink_get_frame_flags().
void add_parking(FilterRegistry &wrappers);

} // namespace dnn_torch
