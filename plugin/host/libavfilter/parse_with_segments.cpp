// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// libavfilter/graphparser.c of FFmpeg 6.0 to 9.0: a text becomes segments, whose
// filters are then created, given their options, initialised and linked.  Only
// reading and creating look filters up; for the remaining steps this calls libavfilter.
#include "graph_ends.h"
#include "host/ffmpeg_pointers.h"
#include "host/guard.h"
#include "parse_graph.h"
#include "real_registry.h"
#include "registry.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
}

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

namespace dnn_torch
{
namespace
{

struct SegmentDeleter {
    void operator()(AVFilterGraphSegment *segment) const { avfilter_graph_segment_free(&segment); }
};
using SegmentPointer = std::unique_ptr<AVFilterGraphSegment, SegmentDeleter>;

template <class Struct> Struct *make()
{
    auto *made = static_cast<Struct *>(av_mallocz(sizeof(Struct)));
    if (!made)
        throw std::bad_alloc();
    return made;
}

// Appends to a list whose members the segment owns.
template <class Struct, class Count> Struct *append_new(Struct **&list, Count &count)
{
    int number = static_cast<int>(count);
    Struct *made = make<Struct>();
    if (av_dynarray_add_nofree(&list, &number, made) < 0) {
        av_free(made);
        throw std::bad_alloc();
    }
    count = static_cast<Count>(number);
    return made;
}

TextPointer token(const char **at, const char *terminators)
{
    TextPointer text(av_get_token(at, terminators));
    if (!text)
        throw std::bad_alloc();
    return text;
}

// ---- reading ------------------------------------------------------------------

int parse_labels(void *log_ctx, const char **at, AVFilterPadParams **&pads, unsigned &count)
{
    while (**at == '[') {
        TextPointer label(parse_label(at, log_ctx));
        if (!label)
            return AVERROR(EINVAL);
        append_new(pads, count)->label = label.release();
        skip_whitespace(at);
    }
    return 0;
}

// Returns the option that the next value without a key sets: each offset once, in order.
const AVOption *next_shorthand(const AVClass *const *options, const AVOption *last, int &offset)
{
    const AVOption *option = last;
    while ((option = av_opt_next(options, option)))
        if (option->type != AV_OPT_TYPE_CONST && option->offset != offset) {
            offset = option->offset;
            return option;
        }
    return nullptr;
}

// Up to 7.0 (10.1), values without a key that follow a named option begin at the first again.
bool names_end_shorthand()
{
    return avfilter_version() >= AV_VERSION_INT(10, 4, 100);
}

int parse_options(const AVClass *with_shorthand, const char *text, void *log_ctx,
                  AVDictionary **options)
{
    const AVOption *shorthand = nullptr;
    int offset = -1;
    while (*text) {
        char *key = nullptr, *value = nullptr;
        shorthand = with_shorthand ? next_shorthand(&with_shorthand, shorthand, offset) : nullptr;
        int ret = av_opt_get_key_value(&text, "=", ":", shorthand ? AV_OPT_FLAG_IMPLICIT_KEY : 0,
                                       &key, &value);
        if (ret < 0) {
            char words[AV_ERROR_MAX_STRING_SIZE] = "";
            if (ret == AVERROR(EINVAL))
                av_log(log_ctx, AV_LOG_ERROR, "No option name near '%s'\n", text);
            else
                av_log(log_ctx, AV_LOG_ERROR, "Unable to parse '%s': %s\n", text,
                       av_make_error_string(words, sizeof(words), ret));
            return ret;
        }
        TextPointer owned_key(key), owned_value(value);
        text += *text != 0;
        ret = av_dict_set(options, key ? key : shorthand->name, value, AV_DICT_MULTIKEY);
        if (key && names_end_shorthand())
            with_shorthand = nullptr;
        else if (key)
            shorthand = nullptr;
        if (ret < 0)
            return ret;
    }
    return 0;
}

void parse_name(const char **at, AVFilterParams *filter)
{
    filter->filter_name = token(at, "=,;[").release();
    char *instance = strchr(filter->filter_name, '@');
    if (!instance)
        return;
    *instance++ = '\0';
    filter->instance_name = av_strdup(instance);
    if (!filter->instance_name)
        throw std::bad_alloc();
}

int parse_parts(void *log_ctx, const char **at, AVFilterParams *filter)
{
    int ret = parse_labels(log_ctx, at, filter->inputs, filter->nb_inputs);
    if (ret < 0)
        return ret;
    parse_name(at, filter);
    if (**at == '=') {
        ++*at;
        const AVFilter *known = find_filter(filter->filter_name);
        TextPointer text = token(at, "[],;");
        ret =
            parse_options(known ? known->priv_class : nullptr, text.get(), log_ctx, &filter->opts);
        if (ret < 0)
            return ret;
    }
    return parse_labels(log_ctx, at, filter->outputs, filter->nb_outputs);
}

int parse_filter(void *log_ctx, const char **at, AVFilterParams *filter)
{
    int ret = parse_parts(log_ctx, at, filter);
    if (ret < 0)
        av_log(log_ctx, AV_LOG_ERROR, "Error parsing a filter description around: %s\n", *at);
    else
        skip_whitespace(at);
    return ret;
}

int parse_filters(void *log_ctx, const char **at, AVFilterChain *chain)
{
    while (**at) {
        int ret = parse_filter(log_ctx, at, append_new(chain->filters, chain->nb_filters));
        if (ret < 0)
            return ret;
        char end = **at;
        if (end && end != ',' && end != ';') {
            av_log(log_ctx, AV_LOG_ERROR, "Trailing garbage after a filter: %s\n", *at);
            return AVERROR(EINVAL);
        }
        *at += end != 0;
        skip_whitespace(at);
        if (end == ';')
            break;
    }
    return 0;
}

int parse_chain(void *log_ctx, const char **at, AVFilterChain *chain)
{
    const char *start = *at;
    int ret = parse_filters(log_ctx, at, chain);
    if (ret < 0)
        av_log(log_ctx, AV_LOG_ERROR, "Error parsing filterchain '%s' around: %s\n", start, *at);
    return ret;
}

int parse_segment(AVFilterGraph *graph, const char *text, SegmentPointer &parsed)
{
    SegmentPointer segment(make<AVFilterGraphSegment>());
    segment->graph = graph;
    skip_whitespace(&text);
    int ret = parse_scaler_options(&text, &segment->scale_sws_opts, graph);
    if (ret < 0)
        return ret;
    skip_whitespace(&text);
    while (*text) {
        ret = parse_chain(graph, &text, append_new(segment->chains, segment->nb_chains));
        if (ret < 0)
            return ret;
        skip_whitespace(&text);
    }
    if (!segment->nb_chains) {
        av_log(graph, AV_LOG_ERROR, "No filters specified in the graph description\n");
        return AVERROR(EINVAL);
    }
    parsed = std::move(segment);
    return 0;
}

int segment_parse(AVFilterGraph *graph, const char *text, int flags,
                  AVFilterGraphSegment **segment) noexcept
{
    *segment = nullptr;
    return guarded(graph, [&] {
        SegmentPointer parsed;
        int ret = flags ? AVERROR(ENOSYS) : parse_segment(graph, text, parsed);
        *segment = parsed.release();
        return ret;
    });
}

// ---- creating -----------------------------------------------------------------

int create(AVFilterGraph *graph, AVFilterParams *params, size_t index)
{
    const AVFilter *filter = find_filter(params->filter_name);
    char name[64];
    if (!filter) {
        av_log(graph, AV_LOG_ERROR, "No such filter: '%s'\n", params->filter_name);
        return AVERROR_FILTER_NOT_FOUND;
    }
    if (params->instance_name)
        snprintf(name, sizeof(name), "%s@%s", filter->name, params->instance_name);
    else
        snprintf(name, sizeof(name), "Parsed_%s_%zu", filter->name, index);
    params->filter = avfilter_graph_alloc_filter(graph, filter, name);
    if (!params->filter)
        return AVERROR(ENOMEM);
    if (!strcmp(filter->name, "scale") && graph->scale_sws_opts) {
        int ret = av_set_options_string(params->filter, graph->scale_sws_opts, "=", ":");
        if (ret < 0) {
            avfilter_free(params->filter);
            params->filter = nullptr;
            return ret;
        }
    }
    av_freep(&params->filter_name);
    av_freep(&params->instance_name);
    return 0;
}

int copy_scaler_options(const AVFilterGraphSegment *segment)
{
    AVFilterGraph *graph = segment->graph;
    if (!segment->scale_sws_opts)
        return 0;
    av_freep(&graph->scale_sws_opts);
    graph->scale_sws_opts = av_strdup(segment->scale_sws_opts);
    return graph->scale_sws_opts ? 0 : AVERROR(ENOMEM);
}

int create_filters(AVFilterGraphSegment *segment)
{
    size_t index = 0;
    int ret = copy_scaler_options(segment);
    for (size_t i = 0; i < segment->nb_chains && ret >= 0; i++) {
        const AVFilterChain *chain = segment->chains[i];
        for (size_t j = 0; j < chain->nb_filters && ret >= 0; j++)
            if (AVFilterParams *params = chain->filters[j]; !params->filter && params->filter_name)
                ret = create(segment->graph, params, index++);
    }
    return ret;
}

int segment_create_filters(AVFilterGraphSegment *segment, int flags) noexcept
{
    return guarded(segment->graph,
                   [&] { return flags ? AVERROR(ENOSYS) : create_filters(segment); });
}

// Creates all filters first, so that libavfilter's own function has none to look up.
int segment_apply(AVFilterGraphSegment *segment, int flags, AVFilterInOut **inputs,
                  AVFilterInOut **outputs) noexcept
{
    if (int ret = flags ? 0 : segment_create_filters(segment, 0); ret < 0) {
        av_log(segment->graph, AV_LOG_ERROR, "Error creating filters\n");
        return ret;
    }
    return real_registry().segment_apply(segment, flags, inputs, outputs);
}

// ---- between open ends -----------------------------------------------------------

// 6.0 (9.3) only returns the error.
bool explains_failures()
{
    return avfilter_version() >= AV_VERSION_INT(9, 12, 100);
}

// Logs the first option that no filter took.
void log_unknown_option(const AVFilterGraphSegment *segment)
{
    for (size_t i = 0; i < segment->nb_chains; i++)
        for (size_t j = 0; j < segment->chains[i]->nb_filters; j++) {
            const AVFilterParams *params = segment->chains[i]->filters[j];
            const AVDictionaryEntry *entry =
                params->filter ? av_dict_get(params->opts, "", nullptr, AV_DICT_IGNORE_SUFFIX)
                               : nullptr;
            if (entry) {
                av_log(params->filter, AV_LOG_ERROR,
                       "Could not set non-existent option '%s' to value '%s'\n", entry->key,
                       entry->value);
                return;
            }
        }
}

int prepare(AVFilterGraphSegment *segment)
{
    int ret = create_filters(segment);
    if (ret < 0)
        return ret;
    ret = avfilter_graph_segment_apply_opts(segment, 0);
    if (ret == AVERROR_OPTION_NOT_FOUND && explains_failures())
        log_unknown_option(segment);
    return ret < 0 ? ret : avfilter_graph_segment_init(segment, 0);
}

// Adds the labels of the first input and the last output if they are missing.
int label_ends(AVFilterGraphSegment *segment, void *log_ctx)
{
    const char *in = "[in]", *out = "[out]";
    AVFilterParams *first = segment->chains[0]->filters[0];
    if (first->filter->nb_inputs == 1 && !first->inputs)
        if (int ret = parse_labels(log_ctx, &in, first->inputs, first->nb_inputs); ret < 0)
            return ret;
    const AVFilterChain *chain = segment->chains[segment->nb_chains - 1];
    AVFilterParams *last = chain->filters[chain->nb_filters - 1];
    if (last->filter->nb_outputs == 1 && !last->outputs)
        return parse_labels(log_ctx, &out, last->outputs, last->nb_outputs);
    return 0;
}

int link(const AVFilterInOut *from, const AVFilterInOut *to)
{
    return avfilter_link(from->filter_ctx, static_cast<unsigned>(from->pad_idx), to->filter_ctx,
                         static_cast<unsigned>(to->pad_idx));
}

// Links each of `found` to the open end of its name, or adds it to `unmatched`.
template <class Link> int connect(Ends &found, Ends &open, Ends &unmatched, Link link_to)
{
    while (found.first) {
        Ends end(found.take_first());
        Ends match(open.extract(end.first->name));
        if (!match.first)
            unmatched.append(end.release());
        else if (int ret = link_to(match.first, end.first); ret < 0)
            return ret;
    }
    return 0;
}

int parse_between(AVFilterGraph *graph, const char *text, Ends &open_inputs, Ends &open_outputs)
{
    SegmentPointer segment;
    Ends inputs, outputs;
    int ret = parse_segment(graph, text, segment);
    if (ret < 0 || (ret = prepare(segment.get())) < 0 ||
        (ret = label_ends(segment.get(), graph)) < 0 ||
        (ret = segment_apply(segment.get(), 0, &inputs.first, &outputs.first)) < 0)
        return ret;
    ret = connect(inputs, open_outputs, open_inputs, link);
    return ret < 0
               ? ret
               : connect(outputs, open_inputs, open_outputs,
                         [](AVFilterInOut *match, AVFilterInOut *end) { return link(end, match); });
}

} // namespace

int parse_graph(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                AVFilterInOut **outputs)
{
    SegmentPointer segment;
    int ret = parse_segment(graph, text, segment);
    return ret < 0 ? ret : segment_apply(segment.get(), 0, inputs, outputs);
}

int parse_graph_between(AVFilterGraph *graph, const char *text, AVFilterInOut **open_inputs,
                        AVFilterInOut **open_outputs, void *)
{
    Ends inputs(open_inputs ? *open_inputs : nullptr);
    Ends outputs(open_outputs ? *open_outputs : nullptr);
    int ret = AVERROR(ENOMEM);
    try {
        ret = parse_between(graph, text, inputs, outputs);
    } catch (const std::bad_alloc &) {
        // The caller still gets the remaining ends.
    }
    if (ret < 0 && explains_failures()) {
        char words[AV_ERROR_MAX_STRING_SIZE] = "";
        av_log(graph, AV_LOG_ERROR, "Error processing filtergraph: %s\n",
               av_make_error_string(words, sizeof(words), ret));
    }
    if (open_inputs)
        *open_inputs = inputs.release();
    if (open_outputs)
        *open_outputs = outputs.release();
    return ret;
}

void add_segment_parsers(FilterRegistry &wrappers)
{
    wrappers.segment_parse = segment_parse;
    wrappers.segment_create_filters = segment_create_filters;
    wrappers.segment_apply = segment_apply;
}

} // namespace dnn_torch
