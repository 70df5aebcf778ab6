// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registry.h"

#include "../ffmpeg_pointers.h"
#include "../filters/filters.h"
#include "../gate/self_test.h"
#include "../guard.h"
#include "initialise.h"
#include "stand_in.h"

#include <cstdio>
#include <cstring>
#include <iterator>

namespace dnn_torch
{
namespace
{

FilterRegistry real{};

const AVFilter *const filters[] = {dnn_torch_filter(), nullptr};

const AVFilter *get_by_name(const char *name) noexcept
{
    const AVFilter *built_in = real.get_by_name(name);
    return built_in ? built_in : registered_filter(name);
}

// libavfilter's cursor is a small number; ours points into our own list.
const AVFilter *iterate(void **cursor) noexcept
{
    auto *ours = static_cast<const AVFilter *const *>(*cursor);
    bool in_ours = ours >= std::begin(filters) && ours < std::end(filters);
    if (!in_ours) {
        if (const AVFilter *built_in = real.iterate(cursor))
            return built_in;
        ours = filters;
    }
    const AVFilter *found = *ours;
    *cursor = const_cast<AVFilter **>(const_cast<AVFilter *const *>(found ? ours + 1 : ours));
    return found;
}

const AVClass *child_class(void **cursor) noexcept
{
    while (const AVFilter *filter = iterate(cursor))
        if (filter->priv_class)
            return filter->priv_class;
    return nullptr;
}

// libavfilter's own iterates through what it cannot be given: the same, but for that.
const AVClass *get_class() noexcept
{
    static const AVClass with_ours = [] {
        AVClass made = *real.get_class();
        made.child_class_iterate = child_class;
        return made;
    }();
    return &with_ours;
}

// MLT asks so.  The real one looks among the built-in filters, and aborts at
// pads that are none of theirs.
int pad_count(const AVFilterPad *pads) noexcept
{
    for (const AVFilter *const *filter = filters; pads && *filter; filter++)
        for (bool is_output : {false, true})
            if (pads == (is_output ? (*filter)->outputs : (*filter)->inputs))
                return static_cast<int>(avfilter_filter_pad_count(*filter, is_output));
    return real.pad_count ? real.pad_count(pads) : AVERROR(ENOSYS);
}

// A parse that fails leaves an empty graph, in every libavfilter.
int fail_graph(AVFilterGraph *graph, int error)
{
    while (graph->nb_filters)
        avfilter_free(graph->filters[0]);
    av_freep(&graph->filters);
    return error;
}

int take_places(AVFilterGraph *graph, const StandInText &ours,
                const std::vector<AVFilterInOut *> &ends, void *log_ctx)
{
    for (const StandIn &stand_in : ours.stand_ins)
        if (int ret = take_place(graph, stand_in, ends, log_ctx); ret < 0)
            return fail_graph(graph, ret);
    return 0;
}

// libavfilter would find this fault with the stand-in, and name that.
int check_labels(const StandInText &ours, void *log_ctx)
{
    for (const StandIn &stand_in : ours.stand_ins)
        if (stand_in.text.input_labels > 1) {
            log_too_many_inputs(stand_in.text, log_ctx);
            return AVERROR(EINVAL);
        }
    return 0;
}

AVFilterInOut *first(AVFilterInOut **ends)
{
    return ends ? *ends : nullptr;
}

int graph_parse(AVFilterGraph *graph, const char *text, AVFilterInOut *inputs,
                AVFilterInOut *outputs, void *log_ctx) noexcept
{
    return guarded(graph, [&] {
        StandInText ours = with_stand_ins(text, usable_filters());
        if (int ret = check_labels(ours, log_ctx); ret < 0) {
            avfilter_inout_free(&inputs); // this one takes them in any case
            avfilter_inout_free(&outputs);
            return fail_graph(graph, ret);
        }
        int ret = real.graph_parse(graph, ours.text.c_str(), inputs, outputs, log_ctx);
        return ret < 0 ? ret : take_places(graph, ours, {}, log_ctx);
    });
}

int graph_parse2(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                 AVFilterInOut **outputs) noexcept
{
    *inputs = *outputs = nullptr;
    return guarded(graph, [&] {
        StandInText ours = with_stand_ins(text, usable_filters());
        if (int ret = check_labels(ours, graph); ret < 0)
            return fail_graph(graph, ret);
        int ret = real.graph_parse2(graph, ours.text.c_str(), inputs, outputs);
        if (ret >= 0 && (ret = take_places(graph, ours, {*inputs, *outputs}, graph)) < 0) {
            avfilter_inout_free(inputs);
            avfilter_inout_free(outputs);
        }
        return ret;
    });
}

int graph_parse_ptr(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                    AVFilterInOut **outputs, void *log_ctx) noexcept
{
    return guarded(graph, [&] {
        StandInText ours = with_stand_ins(text, usable_filters());
        if (int ret = check_labels(ours, log_ctx); ret < 0)
            return fail_graph(graph, ret);
        int ret = real.graph_parse_ptr(graph, ours.text.c_str(), inputs, outputs, log_ctx);
        return ret < 0 ? ret : take_places(graph, ours, {first(inputs), first(outputs)}, log_ctx);
    });
}

} // namespace

const AVFilter *const *usable_filters()
{
    static const AVFilter *const none[] = {nullptr};
    static const bool usable = [] {
        const char *fault = gate_fault();
        if (fault)
            fprintf(stderr, "dnn_torch: the filters are not offered: %s\n", fault);
        return !fault;
    }();
    return usable ? filters : none;
}

const AVFilter *const *registered_filters()
{
    return filters;
}

const AVFilter *registered_filter(const char *name)
{
    for (const AVFilter *const *filter = filters; name && *filter; filter++)
        if (!strcmp((*filter)->name, name))
            return *filter;
    return nullptr;
}

const FilterRegistry &real_registry()
{
    return real;
}

void set_real_registry(const FilterRegistry &functions)
{
    real = functions;
}

const FilterRegistry *registry_wrappers()
{
    static const FilterRegistry wrappers = [] {
        FilterRegistry made{};
        made.get_by_name = get_by_name;
        made.iterate = iterate;
        made.get_class = get_class;
        made.graph_parse = graph_parse;
        made.graph_parse2 = graph_parse2;
        made.graph_parse_ptr = graph_parse_ptr;
        made.pad_count = pad_count;
        add_segment_wrappers(made);
        return made;
    }();
    return &wrappers;
}

} // namespace dnn_torch
