// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graphs that ffmpeg frees in mid-stream, while frames are in filters of ours.
//
// When frames of another size come, ffmpeg frees its graph and builds the same one anew on the
// same thread.  By then libavfilter's own filters have passed all frames on; ours work on some.
// So such a graph is not freed but parked.  If a filter of ours is made on that thread, there
// is a successor: the parked graph's filters hand out what they have, through the filters behind
// them, and it comes out of the successor's sinks of the same names before the successor's own
// frames.  Nothing is closed: the filters behind see what they would see behind libavfilter's.
// If there is no successor, nobody wants the frames.  The graph is freed when the thread ends.
//
// Only ffmpeg's own graphs are parked, which is told by the names of their sources.  Players
// build graphs anew when they seek, and want nothing of the old ones.
#pragma once

#include "dnn_torch/filter_module.h"
#include "host/error.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <optional>

namespace dnn_torch
{

// How a parked graph speaks to a filter of ours in it.
struct ParkedFilter {
    // Whether it has frames for filters behind it.
    bool (*holds_frames)(AVFilterContext *);
    // Has it hand them out.  Returns whether there were any.
    bool (*hand_out)(AVFilterContext *);
    // Has it let go of all that it uses.  Returns why frames of it are missing, if some are.
    std::optional<Error> (*leave)(AVFilterContext *);
};

// The functions live for ever.
void set_parked_filter(const ParkedFilter &functions);

// For a filter that is made: has the graphs that are parked by this thread hand out all frames.
// Returns the failure that keeps some from it.
std::optional<Error> settle_parked_graphs();

// Whether the program ffmpeg has made it.  Before its sources are in it, nobody can tell.
bool is_of_ffmpeg(const AVFilterGraph &graph);

// Adds avfilter_graph_free(), avfilter_graph_request_oldest() and
// av_buffersink_get_frame_flags().
void add_parking(FilterRegistry &wrappers);

} // namespace dnn_torch
