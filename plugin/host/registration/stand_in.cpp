// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stand_in.h"

#include "initialise.h"

#include <algorithm>
#include <atomic>

namespace dnn_torch
{
namespace
{

constexpr const char *stand_in_filter = "null";

const AVFilter *find_filter(const AVFilter *const *filters, const std::string &name)
{
    for (; *filters; filters++)
        if (name == (*filters)->name)
            return *filters;
    return nullptr;
}

std::string unique_name()
{
    static std::atomic<unsigned> counter{0};
    return "dnn_torch_stand_in_" + std::to_string(counter++);
}

void move_links(AVFilterContext *from, AVFilterContext *to)
{
    if (AVFilterLink *link = from->inputs[0]) {
        to->inputs[0] = link;
        link->dst = to;
        link->dstpad = to->input_pads;
        from->inputs[0] = nullptr;
    }
    if (AVFilterLink *link = from->outputs[0]) {
        to->outputs[0] = link;
        link->src = to;
        link->srcpad = to->output_pads;
        from->outputs[0] = nullptr;
    }
}

void move_ends(AVFilterInOut *end, AVFilterContext *from, AVFilterContext *to)
{
    for (; end; end = end->next)
        if (end->filter_ctx == from)
            end->filter_ctx = to;
}

// A new filter stands last in the graph; ours shall stand where it was written.
void exchange_positions(AVFilterGraph *graph, AVFilterContext *one, AVFilterContext *other)
{
    AVFilterContext **end = graph->filters + graph->nb_filters;
    std::iter_swap(std::find(graph->filters, end, one), std::find(graph->filters, end, other));
}

} // namespace

StandInText with_stand_ins(const char *text, const AVFilter *const *filters)
{
    StandInText result;
    std::vector<FilterText> replaced;
    std::vector<std::string> replacements;

    bool whole = false;
    std::vector<FilterText> all = scan_graph(text, &whole);
    if (!whole && grammar_comes_first)
        return {text, {}};
    for (FilterText &found : all) {
        const AVFilter *filter = find_filter(filters, found.name);
        if (!filter)
            continue;
        std::string name = unique_name();
        std::string context_name = std::string(stand_in_filter) + "@" + name;
        replaced.push_back(found);
        replacements.push_back(context_name);
        result.stand_ins.push_back({std::move(found), filter, name, context_name});
    }
    result.text = replace_filters(text, replaced, replacements);
    return result;
}

int take_place(AVFilterGraph *graph, const StandIn &stand_in,
               const std::vector<AVFilterInOut *> &ends, void *log_ctx)
{
    AVFilterContext *held = avfilter_graph_get_filter(graph, stand_in.context_name.c_str());
    if (!held)
        return AVERROR_BUG;
    AVFilterContext *ours =
        avfilter_graph_alloc_filter(graph, stand_in.filter, stand_in.text.context_name().c_str());
    if (!ours)
        return AVERROR(ENOMEM);
    if (int ret = initialise_filter(ours, stand_in.text, log_ctx); ret < 0)
        return ret;
    move_links(held, ours);
    for (AVFilterInOut *end : ends)
        move_ends(end, held, ours);
    exchange_positions(graph, held, ours);
    avfilter_free(held);
    return 0;
}

} // namespace dnn_torch
