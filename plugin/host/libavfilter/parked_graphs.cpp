// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parked_graphs.h"

#include "host/ffmpeg_pointers.h"
#include "host/guard.h"
#include "real_registry.h"
#include "registry.h"

extern "C" {
#include <libavfilter/buffersink.h>
}

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

ParkedFilter parked_filter{};

// Whether this thread is in one of the wrapped functions.  The functions of libavfilter that these
// call are not wrapped again, even by a patched libavfilter.
thread_local bool is_inside = false;

class Inside
{
public:
    Inside() : before_(std::exchange(is_inside, true)) {}
    ~Inside() { is_inside = before_; }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

private:
    bool before_;
};

// ---- properties of a graph ----------------------------------------------------

using Filters = std::vector<AVFilterContext *>;

bool is_ours(const AVFilterContext *ctx)
{
    return registered_filter(ctx->filter->name) != nullptr;
}

Filters ours_in(const AVFilterGraph &graph)
{
    Filters ours;
    std::copy_if(graph.filters, graph.filters + graph.nb_filters, std::back_inserter(ours),
                 is_ours);
    return ours;
}

// Returns the number of the ffmpeg graph whose source it is; nullopt if it is not ffmpeg's.
std::optional<int> number_of_source(const AVFilterContext *ctx)
{
    int number = 0, length = 0;
    const bool is_one =
        ctx->name && sscanf(ctx->name, "graph %d input from stream %n", &number, &length) == 1;
    return is_one && length ? std::optional(number) : std::nullopt;
}

// Returns the number of ffmpeg's graph; nullopt if it is not ffmpeg's.
std::optional<int> number_of(const AVFilterGraph &graph)
{
    for (unsigned i = 0; i < graph.nb_filters; i++)
        if (const std::optional<int> number = number_of_source(graph.filters[i]))
            return number;
    return std::nullopt;
}

void add_downstream(AVFilterContext *ctx, Filters &found)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++) {
        AVFilterContext *const next = ctx->outputs[i] ? ctx->outputs[i]->dst : nullptr;
        if (!next || std::find(found.begin(), found.end(), next) != found.end())
            continue;
        found.push_back(next);
        add_downstream(next, found);
    }
}

Filters downstream_of(const Filters &ours)
{
    Filters found;
    for (AVFilterContext *ctx : ours)
        add_downstream(ctx, found);
    return found;
}

bool is_sink(const AVFilterContext *ctx)
{
    return ctx->nb_outputs == 0 && strstr(ctx->filter->name, "buffersink");
}

// Returns all sinks, not only those downstream of ours: while ffmpeg 7.1 waits for one sink, it
// takes frames from no other.
Filters sinks_of(const AVFilterGraph &graph)
{
    Filters sinks;
    std::copy_if(graph.filters, graph.filters + graph.nb_filters, std::back_inserter(sinks),
                 is_sink);
    return sinks;
}

// Returns whether a filter of the graph may wait for one of several inputs of the program.
bool joins_inputs(const AVFilterGraph &graph)
{
    const Filters all(graph.filters, graph.filters + graph.nb_filters);
    const auto is_source = [](const AVFilterContext *ctx) {
        return number_of_source(ctx).has_value();
    };
    const auto joins = [](const AVFilterContext *ctx) { return ctx->nb_inputs > 1; };
    return std::count_if(all.begin(), all.end(), is_source) > 1 &&
           std::any_of(all.begin(), all.end(), joins);
}

// Frames of one input that are flushed late miss the frames of the other inputs, which go to the
// successor.  With libavfilter's own filters they would have been in time.
void warn_of_joined_inputs(const AVFilterGraph &graph, AVFilterContext *ours)
{
    static std::atomic<bool> has_warned = false;
    if (joins_inputs(graph) && !has_warned.exchange(true))
        av_log(ours, AV_LOG_WARNING,
               "the graph joins several inputs, and the frames of one have another size now: some "
               "that were in flight may be missing; async=0 keeps the inputs in step\n");
}

bool has_frame(AVFilterContext *sink)
{
    return real_registry().sink_get_frame(
               sink, nullptr, AV_BUFFERSINK_FLAG_PEEK | AV_BUFFERSINK_FLAG_NO_REQUEST) >= 0;
}

// ---- a parked graph -------------------------------------------------------------

// Belongs to the thread that parked it.
class ParkedGraph
{
public:
    ParkedGraph(AVFilterGraph *graph, int number) : number_(number), graph_(graph)
    {
        for (AVFilterContext *ctx : sinks_of(*graph))
            sinks_.push_back({.ctx = ctx, .frames = {}});
    }
    ~ParkedGraph()
    {
        Inside inside;
        real_registry().graph_free(&graph_);
    }
    ParkedGraph(const ParkedGraph &) = delete;
    ParkedGraph &operator=(const ParkedGraph &) = delete;

    int number() const { return number_; }
    bool is_exhausted() const { return sinks_.empty(); }

    std::optional<AnyError> flush();

    // Takes the next frame for a sink of that name.  Returns the parked sink, which describes the
    // frame; nullptr if there is no frame and will be none.
    AVFilterContext *take_for(const char *name, AVFrame *frame, int flags);

private:
    struct Sink {
        AVFilterContext *ctx;
        std::deque<FramePointer> frames; // taken from `ctx` already
    };
    static int take(Sink &sink, AVFrame *frame, int flags);
    void run();
    bool is_chained(const Filters &ours) const;

    int number_;
    AVFilterGraph *graph_;
    std::list<Sink> sinks_; // those that may have frames
    bool is_flushed_ = false;
};

// Returns whether one filter's frames are input for another one downstream.
bool ParkedGraph::is_chained(const Filters &ours) const
{
    const Filters downstream = downstream_of(ours);
    return std::any_of(downstream.begin(), downstream.end(), is_ours);
}

// Moves all frames as far as possible.  The only way to run a graph is to request frames.
void ParkedGraph::run()
{
    for (Sink &sink : sinks_)
        for (;;) {
            FramePointer frame(av_frame_alloc());
            if (!frame)
                throw std::bad_alloc();
            if (real_registry().sink_get_frame(sink.ctx, frame.get(), 0) < 0)
                break;
            sink.frames.push_back(std::move(frame));
        }
}

std::optional<AnyError> ParkedGraph::flush()
{
    if (std::exchange(is_flushed_, true))
        return std::nullopt;
    const Filters ours = ours_in(*graph_);
    const bool chained = is_chained(ours);
    bool any = false;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (AVFilterContext *ctx : ours)
            goes_on = parked_filter.flush(ctx) || goes_on;
        any |= goes_on;
        if (goes_on && chained)
            run();
    }
    if (any)
        warn_of_joined_inputs(*graph_, ours.front());
    std::optional<AnyError> failure;
    for (AVFilterContext *ctx : ours)
        if (std::optional<AnyError> one = parked_filter.release(ctx); one && !failure)
            failure = std::move(one);
    return failure;
}

int ParkedGraph::take(Sink &sink, AVFrame *frame, int flags)
{
    if (sink.frames.empty())
        return real_registry().sink_get_frame(sink.ctx, frame,
                                              flags & ~AV_BUFFERSINK_FLAG_NO_REQUEST);
    av_frame_move_ref(frame, sink.frames.front().get());
    sink.frames.pop_front();
    return 0;
}

AVFilterContext *ParkedGraph::take_for(const char *name, AVFrame *frame, int flags)
{
    const auto sink = std::find_if(sinks_.begin(), sinks_.end(), [name](const Sink &one) {
        return !strcmp(one.ctx->name, name);
    });
    if (sink == sinks_.end())
        return nullptr;
    AVFilterContext *const ctx = sink->ctx;
    if (take(*sink, frame, flags) >= 0)
        return ctx;
    sinks_.erase(sink);
    return nullptr;
}

// ---- the parked graphs of a thread ----------------------------------------------------

// A sink of the successor that shows the link of a parked sink, so that the program sees the size
// and the time base of the frame that it got.
struct Shown {
    AVFilterContext *sink = nullptr;
    AVFilterLink *own = nullptr;
};

// The oldest first.
struct ParkedGraphs : std::list<ParkedGraph> {
    // Frees the graphs whose frames no successor took.  Leaks them if a signal handler ends the
    // program while one of them is in use.
    ~ParkedGraphs()
    {
        if (is_inside)
            new std::list<ParkedGraph>(std::move(*this));
    }
};

thread_local ParkedGraphs parked;
thread_local Shown shown;

void show_own_link()
{
    if (shown.sink)
        shown.sink->inputs[0] = shown.own;
    shown = {};
}

void show_link_of(AVFilterContext *sink, const AVFilterContext *parked_sink)
{
    shown = {.sink = sink, .own = sink->inputs[0]};
    sink->inputs[0] = parked_sink->inputs[0];
}

bool is_worth_parking(const AVFilterGraph &graph)
{
    const Filters ours = ours_in(graph);
    if (std::any_of(ours.begin(), ours.end(), parked_filter.holds_frames))
        return true;
    const Filters sinks = sinks_of(graph);
    return !ours.empty() && std::any_of(sinks.begin(), sinks.end(), has_frame);
}

// Returns whether the graph is parked now.
bool park(AVFilterGraph *graph)
{
    const std::optional<int> number = graph ? number_of(*graph) : std::nullopt;
    if (!number || !parked_filter.holds_frames || !is_worth_parking(*graph))
        return false;
    parked.emplace_back(graph, *number);
    return true;
}

// Returns whether frames of parked graphs come before those of this one.
bool succeeds_any(const AVFilterGraph &graph)
{
    const std::optional<int> number = number_of(graph);
    return std::any_of(parked.begin(), parked.end(),
                       [&](const ParkedGraph &one) { return one.number() == number; });
}

// Returns whether the frame is one of a parked graph.
bool take_parked(AVFilterContext *sink, AVFrame *frame, int flags)
{
    const std::optional<int> number = number_of(*sink->graph);
    if (!number)
        return false;
    for (auto graph = parked.begin(); graph != parked.end();) {
        if (graph->number() == number) {
            graph->flush();
            if (const AVFilterContext *giver = graph->take_for(sink->name, frame, flags)) {
                show_link_of(sink, giver);
                return true;
            }
        }
        graph = graph->is_exhausted() ? parked.erase(graph) : std::next(graph);
    }
    return false;
}

// ---- the wrapped functions ------------------------------------------------------

void graph_free(AVFilterGraph **graph) noexcept
{
    if (is_inside)
        return real_registry().graph_free(graph);
    Inside inside;
    show_own_link();
    if (guarded(nullptr, [&] { return graph && park(*graph); }) > 0)
        *graph = nullptr;
    else
        real_registry().graph_free(graph);
}

int graph_request_oldest(AVFilterGraph *graph) noexcept
{
    if (is_inside)
        return real_registry().graph_request_oldest(graph);
    Inside inside;
    show_own_link();
    if (!parked.empty() && succeeds_any(*graph))
        return 0; // the program then asks its sinks, which return parked frames first
    return real_registry().graph_request_oldest(graph);
}

int sink_get_frame(AVFilterContext *sink, AVFrame *frame, int flags) noexcept
{
    if (is_inside)
        return real_registry().sink_get_frame(sink, frame, flags);
    Inside inside;
    show_own_link();
    const bool may_be_parked = !parked.empty() && !(flags & AV_BUFFERSINK_FLAG_PEEK);
    const int ret =
        may_be_parked ? guarded(sink, [&] { return take_parked(sink, frame, flags); }) : 0;
    return ret == 0 ? real_registry().sink_get_frame(sink, frame, flags) : std::min(ret, 0);
}

} // namespace

void set_parked_filter(const ParkedFilter &functions)
{
    parked_filter = functions;
}

std::optional<AnyError> flush_parked_graphs()
{
    Inside inside;
    std::optional<AnyError> failure;
    for (ParkedGraph &graph : parked)
        if (std::optional<AnyError> one = graph.flush(); one && !failure)
            failure = std::move(one);
    return failure;
}

bool is_of_ffmpeg(const AVFilterGraph &graph)
{
    return number_of(graph).has_value();
}

void add_parking(FilterRegistry &wrappers)
{
    wrappers.graph_free = graph_free;
    wrappers.graph_request_oldest = graph_request_oldest;
    wrappers.sink_get_frame = sink_get_frame;
}

} // namespace dnn_torch
