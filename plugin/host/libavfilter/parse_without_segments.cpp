// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// libavfilter/graphparser.c of FFmpeg 5.1: each filter is initialised and linked right
// after it is read.
#include "graph_ends.h"
#include "host/ffmpeg_pointers.h"
#include "parse_graph.h"
#include "registry.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/log.h>
}

#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

TextPointer token(const char **at, const char *terminators)
{
    TextPointer text(av_get_token(at, terminators));
    if (!text)
        throw std::bad_alloc();
    return text;
}

// Splits "name@instance".  Truncates long names as libavfilter does.
struct FilterName {
    FilterName(const char *text, int index)
    {
        av_strlcpy(buffer, text, sizeof(buffer));
        char *sign = strchr(buffer, '@');
        if (sign && text[sign - buffer + 1]) {
            *sign = '\0';
            instance = text;
            filter = buffer;
            return;
        }
        snprintf(buffer, sizeof(buffer), "Parsed_%s_%d", text, index);
        instance = buffer;
        filter = text;
    }

    char buffer[30];
    const char *instance, *filter;
};

class Parser
{
public:
    Parser(AVFilterGraph *graph, void *log_ctx) : graph_(graph), log_ctx_(log_ctx) {}

    int parse(const char *text);
    int parse_between(const char *text);

    Ends inputs, outputs; // the open ones

private:
    int create(AVFilterContext **made, const char *name, const char *arguments);
    int initialise(AVFilterContext *filter, const char *name, const char *arguments);
    int parse_filter(AVFilterContext **made, const char **at);
    int parse_inputs(const char **at);
    int parse_outputs(const char **at);
    int link_label(TextPointer label);
    int link(AVFilterContext *from, int from_pad, AVFilterContext *to, int to_pad);
    int link_inputs(AVFilterContext *filter);
    int fail_at(const char *text);

    AVFilterGraph *graph_;
    void *log_ctx_;
    Ends current_;
    int index_ = 0;
};

int Parser::create(AVFilterContext **made, const char *text, const char *arguments)
{
    FilterName name(text, index_);
    const AVFilter *filter = find_filter(name.filter);
    if (!filter) {
        av_log(log_ctx_, AV_LOG_ERROR, "No such filter: '%s'\n", name.filter);
        return AVERROR(EINVAL);
    }
    *made = avfilter_graph_alloc_filter(graph_, filter, name.instance);
    if (!*made) {
        av_log(log_ctx_, AV_LOG_ERROR, "Error creating filter '%s'\n", name.filter);
        return AVERROR(ENOMEM);
    }
    std::string with_options;
    bool is_scale = !strcmp(name.filter, "scale") && (!arguments || !strstr(arguments, "flags"));
    if (is_scale && graph_->scale_sws_opts) {
        with_options = arguments ? std::string(arguments) + ":" : "";
        with_options += graph_->scale_sws_opts;
        arguments = with_options.c_str();
    }
    return initialise(*made, name.filter, arguments);
}

int Parser::initialise(AVFilterContext *filter, const char *name, const char *arguments)
{
    int ret = avfilter_init_str(filter, arguments);
    if (ret >= 0)
        return ret;
    av_log(log_ctx_, AV_LOG_ERROR, "Error initializing filter '%s'", name);
    if (arguments)
        av_log(log_ctx_, AV_LOG_ERROR, " with args '%s'", arguments);
    av_log(log_ctx_, AV_LOG_ERROR, "\n");
    avfilter_free(filter);
    return ret;
}

int Parser::parse_filter(AVFilterContext **made, const char **at)
{
    TextPointer name = token(at, "=,;["), arguments;
    if (**at == '=') {
        ++*at;
        arguments = token(at, "[],;");
    }
    return create(made, name.get(), arguments.get());
}

int Parser::parse_inputs(const char **at)
{
    Ends parsed;
    for (int pad = 0; **at == '['; pad++) {
        TextPointer label(parse_label(at, log_ctx_));
        if (!label)
            return AVERROR(EINVAL);
        AVFilterInOut *match = outputs.extract(label.get());
        parsed.append(match ? match : make_end(label.release(), nullptr, pad));
        skip_whitespace(at);
    }
    parsed.append(current_.release());
    current_.first = parsed.release();
    return 0;
}

int Parser::link(AVFilterContext *from, int from_pad, AVFilterContext *to, int to_pad)
{
    int ret =
        avfilter_link(from, static_cast<unsigned>(from_pad), to, static_cast<unsigned>(to_pad));
    if (ret)
        av_log(log_ctx_, AV_LOG_ERROR, "Cannot create the link %s:%d -> %s:%d\n",
               from->filter->name, from_pad, to->filter->name, to_pad);
    return ret;
}

int Parser::link_inputs(AVFilterContext *filter)
{
    for (unsigned pad = 0; pad < filter->nb_inputs; pad++) {
        Ends end(current_.take_first());
        if (!end.first)
            end.first = make_end(nullptr, nullptr, 0);
        if (!end.first->filter_ctx) {
            end.first->filter_ctx = filter;
            end.first->pad_idx = static_cast<int>(pad);
            inputs.append(end.release());
            continue;
        }
        int ret = link(end.first->filter_ctx, end.first->pad_idx, filter, static_cast<int>(pad));
        if (ret < 0)
            return ret;
    }
    if (current_.first) {
        av_log(log_ctx_, AV_LOG_ERROR, "Too many inputs specified for the \"%s\" filter.\n",
               filter->filter->name);
        return AVERROR(EINVAL);
    }
    for (unsigned pad = filter->nb_outputs; pad--;)
        current_.prepend(make_end(nullptr, filter, static_cast<int>(pad)));
    return 0;
}

int Parser::link_label(TextPointer label)
{
    Ends output(current_.take_first());
    if (!output.first) {
        av_log(log_ctx_, AV_LOG_ERROR, "No output pad can be associated to link label '%s'.\n",
               label.get());
        return AVERROR(EINVAL);
    }
    Ends match(inputs.extract(label.get()));
    if (match.first)
        return link(output.first->filter_ctx, output.first->pad_idx, match.first->filter_ctx,
                    match.first->pad_idx);
    output.first->name = label.release();
    outputs.prepend(output.release());
    return 0;
}

// Returns the number of labels, or an AVERROR.
int Parser::parse_outputs(const char **at)
{
    int count = 0;
    for (; **at == '['; count++) {
        TextPointer label(parse_label(at, log_ctx_));
        if (!label)
            return AVERROR(EINVAL);
        if (int ret = link_label(std::move(label)); ret < 0)
            return ret;
        skip_whitespace(at);
    }
    return count;
}

int Parser::fail_at(const char *text)
{
    av_log(log_ctx_, AV_LOG_ERROR, "Unable to parse graph description substring: \"%s\"\n", text);
    return AVERROR(EINVAL);
}

int Parser::parse(const char *text)
{
    char end = 0;
    skip_whitespace(&text);
    int ret = parse_scaler_options(&text, &graph_->scale_sws_opts, graph_);
    if (ret < 0)
        return ret;
    do {
        AVFilterContext *filter = nullptr;
        skip_whitespace(&text);
        if ((ret = parse_inputs(&text)) < 0 || (ret = parse_filter(&filter, &text)) < 0 ||
            (ret = link_inputs(filter)) < 0 || (ret = parse_outputs(&text)) < 0)
            return ret;
        skip_whitespace(&text);
        end = *text++;
        if (end == ';')
            outputs.append(current_.release());
        index_++;
    } while (end == ',' || end == ';');
    if (end)
        return fail_at(text - 1);
    outputs.append(current_.release());
    return 0;
}

// On success, returns the number of labels at the end, like libavfilter.
int Parser::parse_between(const char *text)
{
    const char *in = "[in]", *out = "[out]";
    char end = 0;
    int ret = parse_scaler_options(&text, &graph_->scale_sws_opts, graph_);
    if (ret < 0)
        return ret;
    do {
        AVFilterContext *filter = nullptr;
        const char *chain = text;
        skip_whitespace(&text);
        if ((ret = parse_inputs(&text)) < 0 || (ret = parse_filter(&filter, &text)) < 0)
            return ret;
        bool is_first = filter->nb_inputs == 1 && !current_.first && index_ == 0;
        if (is_first && (ret = parse_inputs(&in)) < 0)
            return ret;
        if ((ret = link_inputs(filter)) < 0 || (ret = parse_outputs(&text)) < 0)
            return ret;
        skip_whitespace(&text);
        end = *text++;
        if (end == ';' && current_.first) {
            av_log(log_ctx_, AV_LOG_ERROR,
                   "Invalid filterchain containing an unlabelled output pad: \"%s\"\n", chain);
            return AVERROR(EINVAL);
        }
        index_++;
    } while (end == ',' || end == ';');
    if (end)
        return fail_at(text - 1);
    return current_.first ? parse_outputs(&out) : ret;
}

} // namespace

int parse_graph(AVFilterGraph *graph, const char *text, AVFilterInOut **inputs,
                AVFilterInOut **outputs)
{
    Parser parser(graph, graph);
    int ret = parser.parse(text);
    if (ret < 0)
        return ret;
    *inputs = parser.inputs.release();
    *outputs = parser.outputs.release();
    return 0;
}

int parse_graph_between(AVFilterGraph *graph, const char *text, AVFilterInOut **open_inputs,
                        AVFilterInOut **open_outputs, void *log_ctx)
{
    Parser parser(graph, log_ctx);
    for (auto [ends, open] :
         {std::pair(&parser.inputs, open_inputs), {&parser.outputs, open_outputs}})
        if (open)
            ends->first = *open;
    int ret = AVERROR(ENOMEM);
    try {
        ret = parser.parse_between(text);
    } catch (const std::bad_alloc &) {
        // The caller still gets the remaining ends.
    }
    for (auto [ends, open] :
         {std::pair(&parser.inputs, open_inputs), {&parser.outputs, open_outputs}})
        if (open)
            *open = ends->release();
    return ret;
}

void add_segment_parsers(FilterRegistry &) {}

} // namespace dnn_torch
