// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gate.h"

#include "real_registry.h"
#include "version_differences.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/mathematics.h>
}

#include <cstdio>

namespace dnn_torch
{
namespace
{

constexpr const char *tick_shape = "video_size=16x16:pix_fmt=gray:time_base=1/1";

// Lends a link to a filter, or a filter to a link, until it is destroyed.
template <class Lent> class Loan
{
public:
    Loan(Lent **place, Lent *lent) : place_(place), before_(*place) { *place = lent; }
    ~Loan() { *place_ = before_; }
    Loan(const Loan &) = delete;
    Loan &operator=(const Loan &) = delete;

private:
    Lent **place_, *before_;
};

struct ParametersDeleter {
    void operator()(AVBufferSrcParameters *parameters) const { av_free(parameters); }
};

// ---- the breaker -------------------------------------------------------------
// av_buffersink_get_frame_flags() asks the lent link for a frame and then runs its
// own graph, the private one, until a frame comes.  Up to libavfilter 10 it stops
// when nothing is left to run.  From 11 on it asks again and runs for ever, unless a
// filter of that graph ends it.  The breaker does that.  It first returns EAGAIN, so
// that the request is really repeated: 11 and later need that at each activation,
// even if a request is outstanding.  Then it returns AVERROR_EXIT.

Gate *gate_of(AVFilterContext *ctx)
{
    return *static_cast<Gate **>(ctx->priv);
}

int breaker_activate(AVFilterContext *ctx) noexcept
{
    Gate *gate = gate_of(ctx);
    return gate ? gate->break_loop() : 0;
}

// ---- the relay ---------------------------------------------------------------
// libavfilter runs a filter without activate() by a default rule: if all outputs are
// closed, it closes all inputs; otherwise it takes the next frame.  The relay has an
// input of its own and is lent the real output and the real input.  Then a frame comes
// on its own input.  If the real output is closed, the rule closes the real input.  If
// it is not, the relay gets the frame, and the loan ends before the rule reaches the
// real links.  For forward_end() the relay is lent only the real output, and its own
// input ends.

int relay_filter_frame(AVFilterLink *link, AVFrame *frame) noexcept
{
    gate_of(link->dst)->end_relay();
    av_frame_free(&frame);
    return 0;
}

int relay_config_output(AVFilterLink *out) noexcept
{
    out->w = out->src->inputs[0]->w;
    out->h = out->src->inputs[0]->h;
    out->time_base = out->src->inputs[0]->time_base;
    return 0;
}

lavfi_abi::Pad make_pad(int (*filter_frame)(AVFilterLink *, AVFrame *),
                        int (*config_props)(AVFilterLink *) = nullptr)
{
    lavfi_abi::Pad pad{};
    pad.name = "default";
    pad.type = AVMEDIA_TYPE_VIDEO;
    pad.filter_frame = filter_frame;
    pad.config_props = config_props;
    return pad;
}

lavfi_abi::Filter make_breaker()
{
    static const lavfi_abi::Pad inputs[] = {make_pad(nullptr)};

    lavfi_abi::Filter filter{};
    lavfi_abi::public_part(filter).name = "dnn_torch_breaker";
    lavfi_abi::public_part(filter).inputs = lavfi_abi::as_pads(inputs);
    filter.nb_inputs = 1;
    filter.priv_size = sizeof(Gate *);
    filter.activate = breaker_activate;
    return filter;
}

lavfi_abi::Filter make_relay()
{
    static const lavfi_abi::Pad inputs[] = {make_pad(relay_filter_frame), make_pad(nullptr)};
    static const lavfi_abi::Pad outputs[] = {make_pad(nullptr, relay_config_output)};

    lavfi_abi::Filter filter{};
    lavfi_abi::public_part(filter).name = "dnn_torch_relay";
    lavfi_abi::public_part(filter).inputs = lavfi_abi::as_pads(inputs);
    lavfi_abi::public_part(filter).outputs = lavfi_abi::as_pads(outputs);
    filter.nb_inputs = 2;
    filter.nb_outputs = 1;
    filter.priv_size = sizeof(Gate *);
    return filter;
}

int create(AVFilterContext **ctx, lavfi_abi::Filter &filter, const char *name, Gate *gate,
           AVFilterGraph *graph)
{
    int ret = avfilter_graph_create_filter(ctx, &lavfi_abi::public_part(filter), name, nullptr,
                                           nullptr, graph);
    if (ret >= 0)
        *static_cast<Gate **>((*ctx)->priv) = gate;
    return ret;
}

// Links the filter to the last one of the graph, if there is any.  Returns null on failure.
AVFilterContext *append(AVFilterGraph &graph, const char *name, const char *arguments)
{
    AVFilterContext *made = nullptr;
    AVFilterContext *const last = graph.nb_filters ? graph.filters[graph.nb_filters - 1] : nullptr;
    const AVFilter *const filter = real_registry().get_by_name(name);
    if (!filter ||
        avfilter_graph_create_filter(&made, filter, name, arguments, nullptr, &graph) < 0 ||
        (last && avfilter_link(last, 0, made, 0) < 0))
        return nullptr;
    return made;
}

lavfi_abi::Filter breaker_filter = make_breaker(), relay_filter = make_relay();

} // namespace

Gate::~Gate() = default;

int Gate::open()
{
    int ret;
    graph_.reset(avfilter_graph_alloc());
    scratch_.reset(av_frame_alloc());
    tick_.reset(av_frame_alloc());
    if (!graph_ || !scratch_ || !tick_)
        return AVERROR(ENOMEM);
    graph_->nb_threads = 1; // this graph needs no threads
    if ((ret = add_ticking()) < 0 || (ret = add_relay()) < 0 ||
        (ret = avfilter_graph_config(graph_.get(), nullptr)) < 0)
        return ret;
    return add_lenders();
}

int Gate::add_source(AVFilterContext **source, const char *name)
{
    const AVFilter *buffer = real_registry().get_by_name("buffer");
    if (!buffer)
        return AVERROR_FILTER_NOT_FOUND;
    return avfilter_graph_create_filter(source, buffer, name, tick_shape, nullptr, graph_.get());
}

int Gate::add_ticking()
{
    int ret;
    tick_->width = tick_->height = 16;
    tick_->format = AV_PIX_FMT_GRAY8;
    if ((ret = av_frame_get_buffer(tick_.get(), 0)) < 0 ||
        (ret = add_source(&tick_source_, "tick")) < 0 ||
        (ret = create(&breaker_, breaker_filter, "breaker", this, graph_.get())) < 0)
        return ret;
    return avfilter_link(tick_source_, 0, breaker_, 0);
}

int Gate::add_relay()
{
    AVFilterContext *never = nullptr, *nowhere = nullptr; // fill the pads that are lent a link
    int ret;
    if ((ret = add_source(&relay_source_, "relay_source")) < 0 ||
        (ret = add_source(&never, "never")) < 0 ||
        (ret = create(&relay_, relay_filter, "relay", this, graph_.get())) < 0 ||
        (ret = create(&nowhere, breaker_filter, "nowhere", nullptr, graph_.get())) < 0 ||
        (ret = avfilter_link(relay_source_, 0, relay_, 0)) < 0 ||
        (ret = avfilter_link(never, 0, relay_, 1)) < 0 ||
        (ret = avfilter_link(relay_, 0, nowhere, 0)) < 0)
        return ret;
    relay_in_ = relay_->inputs[1];
    relay_out_ = relay_->outputs[0];
    return 0;
}

// Call it only after avfilter_graph_config(), which refuses pads without a link.
int Gate::add_lenders()
{
    const AVFilter *sink = real_registry().get_by_name("buffersink");
    if (!sink)
        return AVERROR_FILTER_NOT_FOUND;
    if (int ret = add_source(&lend_source_, "lend_source"); ret < 0)
        return ret;
    return avfilter_graph_create_filter(&lend_sink_, sink, "lend_sink", nullptr, nullptr,
                                        graph_.get());
}

int Gate::tick()
{
    tick_->pts++;
    return av_buffersrc_add_frame_flags(tick_source_, tick_.get(), AV_BUFFERSRC_FLAG_KEEP_REF);
}

void Gate::discard_ticks()
{
    Loan loan(lend_sink_->inputs, breaker_->inputs[0]);
    while (av_buffersink_get_frame_flags(lend_sink_, scratch_.get(),
                                         AV_BUFFERSINK_FLAG_NO_REQUEST) >= 0)
        av_frame_unref(scratch_.get());
}

int Gate::break_loop()
{
    discard_ticks();
    if (!requesting_)
        return 0;
    if (breaks_++)
        return AVERROR_EXIT;
    int ret = tick();
    return ret < 0 ? ret : AVERROR(EAGAIN);
}

AVRational Gate::frame_rate(AVFilterLink *in)
{
    Loan loan(lend_sink_->inputs, in);
    return av_buffersink_get_frame_rate(lend_sink_);
}

// A buffersrc configures the link that it is the source of.  This one is only for that: its
// parameters are not those of the private graph.
int Gate::set_frame_rate(AVFilterLink *out, AVRational rate)
{
    const std::unique_ptr<AVBufferSrcParameters, ParametersDeleter> parameters(
        av_buffersrc_parameters_alloc());
    AVFilterContext *source = nullptr;
    if (!parameters)
        return AVERROR(ENOMEM);
    if (int ret = add_source(&source, "rate_source"); ret < 0)
        return ret;
    parameters->format = out->format;
    parameters->width = out->w;
    parameters->height = out->h;
    parameters->sample_aspect_ratio = out->sample_aspect_ratio;
    parameters->time_base = out->time_base;
    parameters->frame_rate = rate;
    int ret = av_buffersrc_parameters_set(source, parameters.get());
    if (ret >= 0) {
        Loan loan(&out->src, source);
        ret = lavfi_abi::whole_pad(source->output_pads).config_props(out);
    }
    avfilter_free(source);
    return ret;
}

int Gate::receive(AVFilterLink *in, AVFrame *frame)
{
    Loan loan(lend_sink_->inputs, in);
    return av_buffersink_get_frame_flags(lend_sink_, frame, AV_BUFFERSINK_FLAG_NO_REQUEST);
}

int Gate::receive_or_request(AVFilterLink *in, AVFrame *frame)
{
    breaks_ = 0;
    int ret = tick();
    if (ret < 0)
        return ret;
    {
        Loan loan(lend_sink_->inputs, in);
        requesting_ = true;
        ret = av_buffersink_get_frame_flags(lend_sink_, frame, 0);
        requesting_ = false;
    }
    discard_ticks();
    return ret == AVERROR_EXIT ? AVERROR(EAGAIN) : ret;
}

int Gate::send(AVFilterLink *out, AVFrame *frame)
{
    Loan loan(lend_source_->outputs, out);
    settle_duration(*frame);
    return av_buffersrc_add_frame_flags(lend_source_, frame, AV_BUFFERSRC_FLAG_NO_CHECK_FORMAT);
}

// No exported function returns the time at which a link ended, but libavfilter's default
// rule passes it on.  When an input of the relay ends, the rule asks the source of the
// lent output, which is our filter, for a frame.  There it finds the status with which
// our own input ended, and ends the output with that status and its time.
int Gate::forward_end(AVFilterLink *out)
{
    Loan lent_out(relay_->outputs, out);
    return av_buffersrc_close(relay_source_, AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH);
}

int Gate::end(AVFilterLink *out, int64_t pts)
{
    Loan loan(lend_source_->outputs, out);
    return av_buffersrc_close(lend_source_, pts, 0);
}

// No exported function tells the time.  As in forward_end(), the default rule passes it on, here
// from `in` to a filter `fps`, which has got the latest frame before and repeats it up to the end.
int64_t Gate::end_at_rate(AVFilterLink *in, AVRational rate, int64_t latest)
{
    const GraphPointer graph(avfilter_graph_alloc());
    if (!graph)
        return AV_NOPTS_VALUE;
    graph->nb_threads = 1;
    char shape[128], fps[64];
    snprintf(shape, sizeof(shape), "video_size=16x16:pix_fmt=gray:time_base=%d/%d",
             in->time_base.num, in->time_base.den);
    snprintf(fps, sizeof(fps), "fps=%d/%d", rate.num, rate.den);
    AVFilterContext *const source = append(*graph, "buffer", shape), *const passing = append(
                                                                         *graph, "null", nullptr);
    append(*graph, "fps", fps);
    AVFilterContext *const sink = append(*graph, "buffersink", nullptr);
    if (graph->nb_filters != 4 || avfilter_graph_config(graph.get(), nullptr) < 0)
        return AV_NOPTS_VALUE;
    const int64_t tick_pts = tick_->pts;
    tick_->pts = latest;
    int ret = av_buffersrc_add_frame_flags(source, tick_.get(),
                                           AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
    tick_->pts = tick_pts;
    if (ret < 0)
        return AV_NOPTS_VALUE;
    {
        Loan loan(&passing->outputs[0]->src, in->dst);
        av_buffersrc_close(source, AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH);
    }
    int64_t end = av_rescale_q_rnd(latest, in->time_base, av_inv_q(rate), AV_ROUND_NEAR_INF);
    for (; av_buffersink_get_frame(sink, scratch_.get()) >= 0; end++)
        av_frame_unref(scratch_.get());
    return end;
}

bool Gate::forward_close(AVFilterLink *in, AVFilterLink *out)
{
    if (closed_)
        return true;
    Loan lent_in(relay_->inputs + 1, in), lent_out(relay_->outputs, out);
    relayed_ = false;
    int ret = av_buffersrc_add_frame_flags(relay_source_, tick_.get(),
                                           AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
    closed_ = ret >= 0 && !relayed_;
    return closed_;
}

void Gate::end_relay()
{
    relayed_ = true;
    relay_->inputs[1] = relay_in_;
    relay_->outputs[0] = relay_out_;
}

} // namespace dnn_torch
