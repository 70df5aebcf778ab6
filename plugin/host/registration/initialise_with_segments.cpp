// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "initialise.h"

#include "../ffmpeg_pointers.h"
#include "../guard.h"
#include "registry.h"
#include "stand_in.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <vector>

namespace dnn_torch
{
namespace
{

// The option that a value without a key sets next: each offset once, in order.
const AVOption *next_shorthand(const AVClass *const *options, const AVOption *last)
{
    const AVOption *option = last;
    while ((option = av_opt_next(options, option)))
        if (option->type != AV_OPT_TYPE_CONST && (!last || option->offset != last->offset))
            return option;
    return nullptr;
}

int parse_arguments(const AVFilter *filter, const char *arguments, void *log_ctx,
                    DictionaryPointer &options)
{
    const AVClass *with_shorthand = filter->priv_class;
    const AVOption *shorthand = nullptr;
    AVDictionary *found = nullptr;
    int ret = 0;

    while (*arguments && ret >= 0) {
        char *key = nullptr, *value = nullptr;
        shorthand = with_shorthand ? next_shorthand(&with_shorthand, shorthand) : nullptr;
        ret = av_opt_get_key_value(&arguments, "=", ":", shorthand ? AV_OPT_FLAG_IMPLICIT_KEY : 0,
                                   &key, &value);
        if (ret < 0) {
            av_log(log_ctx, AV_LOG_ERROR, "No option name near '%s'\n", arguments);
            break;
        }
        arguments += *arguments != 0;
        TextPointer owned_key(key), owned_value(value);
        if (key)
            with_shorthand = nullptr; // after a named option none goes without its name
        ret = av_dict_set(&found, key ? key : shorthand->name, value, AV_DICT_MULTIKEY);
    }
    options.reset(found);
    return ret;
}

int apply_options(AVFilterContext *ctx, DictionaryPointer options)
{
    AVDictionary *left = options.release();
    int ret = av_opt_set_dict2(ctx, &left, AV_OPT_SEARCH_CHILDREN);
    options.reset(left);
    const AVDictionaryEntry *entry = av_dict_get(left, "", nullptr, AV_DICT_IGNORE_SUFFIX);
    if (ret < 0 || !entry)
        return ret;
    av_log(ctx, AV_LOG_ERROR, "Could not set non-existent option '%s' to value '%s'\n", entry->key,
           entry->value);
    return AVERROR_OPTION_NOT_FOUND;
}

template <class Visitor> int for_each_filter(AVFilterGraphSegment *segment, Visitor visit)
{
    size_t index = 0;
    for (size_t i = 0; i < segment->nb_chains; i++)
        for (size_t j = 0; j < segment->chains[i]->nb_filters; j++)
            if (int ret = visit(segment->chains[i]->filters[j], index++); ret < 0)
                return ret;
    return 0;
}

int set_text(char **text, const std::string &value)
{
    av_freep(text);
    if (value.empty())
        return 0;
    *text = av_strdup(value.c_str());
    return *text ? 0 : AVERROR(ENOMEM);
}

// Writes into the parsed segment what was really meant.
int name_ours(AVFilterParams *params, const StandIn &stand_in, void *log_ctx)
{
    DictionaryPointer options;
    int ret = parse_arguments(stand_in.filter, stand_in.text.arguments.c_str(), log_ctx, options);
    if (ret < 0)
        return ret;
    av_dict_free(&params->opts);
    params->opts = options.release();
    if ((ret = set_text(&params->filter_name, stand_in.text.name)) < 0)
        return ret;
    return set_text(&params->instance_name, stand_in.text.instance);
}

int parse_segment(AVFilterGraph *graph, const char *text, int flags, AVFilterGraphSegment **segment)
{
    StandInText ours = with_stand_ins(text, usable_filters());
    int ret = real_registry().segment_parse(graph, ours.text.c_str(), flags, segment);
    if (ret < 0)
        return ret;
    ret = for_each_filter(*segment, [&](AVFilterParams *params, size_t) {
        for (const StandIn &stand_in : ours.stand_ins)
            if (params->instance_name && stand_in.name == params->instance_name)
                return name_ours(params, stand_in, graph);
        return 0;
    });
    if (ret < 0)
        avfilter_graph_segment_free(segment);
    return ret;
}

int create_ours(AVFilterGraphSegment *segment)
{
    return for_each_filter(segment, [&](AVFilterParams *params, size_t index) {
        const AVFilter *filter = params->filter ? nullptr : registered_filter(params->filter_name);
        if (!filter)
            return 0;
        FilterText text{};
        text.name = filter->name;
        text.instance = params->instance_name ? params->instance_name : "";
        text.index = index;
        params->filter =
            avfilter_graph_alloc_filter(segment->graph, filter, text.context_name().c_str());
        if (!params->filter)
            return AVERROR(ENOMEM);
        av_freep(&params->filter_name);
        av_freep(&params->instance_name);
        return 0;
    });
}

int segment_parse(AVFilterGraph *graph, const char *text, int flags,
                  AVFilterGraphSegment **segment) noexcept
{
    *segment = nullptr;
    return guarded(graph, [&] { return parse_segment(graph, text, flags, segment); });
}

// New filters stand last in the graph; they shall stand as they were written.
void restore_order(AVFilterGraphSegment *segment)
{
    AVFilterGraph *graph = segment->graph;
    std::vector<AVFilterContext *> written;
    for_each_filter(segment, [&](AVFilterParams *params, size_t) {
        if (params->filter)
            written.push_back(params->filter);
        return 0;
    });
    auto next = written.begin();
    for (unsigned i = 0; i < graph->nb_filters; i++)
        if (std::find(written.begin(), written.end(), graph->filters[i]) != written.end())
            graph->filters[i] = *next++;
}

int segment_create_filters(AVFilterGraphSegment *segment, int flags) noexcept
{
    return guarded(segment->graph, [&] {
        int ret = flags ? 0 : create_ours(segment);
        if (ret >= 0)
            ret = real_registry().segment_create_filters(segment, flags);
        if (ret >= 0)
            restore_order(segment);
        return ret;
    });
}

int segment_apply(AVFilterGraphSegment *segment, int flags, AVFilterInOut **inputs,
                  AVFilterInOut **outputs) noexcept
{
    if (int ret = flags ? 0 : segment_create_filters(segment, 0); ret < 0) {
        av_log(segment->graph, AV_LOG_ERROR, "Error creating filters\n");
        return ret;
    }
    return real_registry().segment_apply(segment, flags, inputs, outputs);
}

} // namespace

const bool grammar_comes_first = true;

int initialise_filter(AVFilterContext *ctx, const FilterText &text, void *log_ctx)
{
    DictionaryPointer options;
    int ret = parse_arguments(ctx->filter, text.arguments.c_str(), log_ctx, options);
    if (ret >= 0)
        ret = apply_options(ctx, std::move(options));
    return ret < 0 ? ret : avfilter_init_dict(ctx, nullptr);
}

void log_too_many_inputs(const FilterText &text, void *log_ctx)
{
    av_log(log_ctx, AV_LOG_ERROR,
           "More input link labels specified for filter '%s' than it has inputs: %zu > 1\n",
           text.name.c_str(), text.input_labels);
}

void add_segment_wrappers(FilterRegistry &wrappers)
{
    wrappers.segment_parse = segment_parse;
    wrappers.segment_create_filters = segment_create_filters;
    wrappers.segment_apply = segment_apply;
}

} // namespace dnn_torch
