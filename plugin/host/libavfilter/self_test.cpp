// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "self_test.h"

#include "base/compose.h"
#include "gate.h"
#include "host/error.h"
#include "host/ffmpeg_pointers.h"
#include "real_registry.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

namespace dnn_torch
{
namespace
{

constexpr int frames_sent = 3;
constexpr int most_steps = 200; // a working gate takes less than twenty

constexpr AVRational rate_in = {25, 1}, rate_out = {50, 1};

struct Forwarder {
    Gate *gate;
    AVFrame *frame;
    int steps;
    bool closed;
};

// Forwards each frame, requests the next one, and closes after the last.
int forwarder_activate(AVFilterContext *ctx) noexcept
{
    Forwarder &forwarder = *static_cast<Forwarder *>(ctx->priv);
    if (++forwarder.steps > most_steps)
        return AVERROR_BUG;
    if (forwarder.closed)
        return 0;
    if (forwarder.gate->forward_close(ctx->inputs[0], ctx->outputs[0]))
        return AVERROR_BUG;
    int ret = forwarder.gate->receive_or_request(ctx->inputs[0], forwarder.frame);
    if (ret >= 0)
        return forwarder.gate->send(ctx->outputs[0], forwarder.frame);
    if (ret != AVERROR_EOF)
        return ret == AVERROR(EAGAIN) ? 0 : ret;
    forwarder.closed = true;
    return forwarder.gate->forward_end(ctx->outputs[0]);
}

// Doubles the frame rate.
int forwarder_config_output(AVFilterLink *out) noexcept
{
    AVFilterLink *const in = out->src->inputs[0];
    Gate &gate = *static_cast<Forwarder *>(out->src->priv)->gate;
    out->w = in->w;
    out->h = in->h;
    out->time_base = in->time_base;
    return av_cmp_q(gate.frame_rate(in), rate_in) == 0 ? gate.set_frame_rate(out, rate_out)
                                                       : AVERROR_BUG;
}

lavfi_abi::Filter make_forwarder()
{
    static lavfi_abi::Pad in = {}, out = {};
    static const AVPixelFormat formats[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE};
    in.name = "default";
    in.type = AVMEDIA_TYPE_VIDEO;
    out = in;
    out.config_props = forwarder_config_output;

    lavfi_abi::Filter filter{};
    AVFilter &visible = lavfi_abi::public_part(filter);
    visible.name = "dnn_torch_self_test";
    visible.inputs = lavfi_abi::as_pads(&in);
    visible.outputs = lavfi_abi::as_pads(&out);
    filter.nb_inputs = filter.nb_outputs = 1;
    filter.formats_state = lavfi_abi::formats_pixel_list(avfilter_version());
    filter.formats.pixels_list = formats;
    filter.priv_size = sizeof(Forwarder);
    filter.activate = forwarder_activate;
    return filter;
}

// Members are destroyed from the last to the first, so the graph is freed before what it uses.
struct TestGraph {
    Gate gate;
    FramePointer received{av_frame_alloc()}, frame{av_frame_alloc()};
    GraphPointer graph{avfilter_graph_alloc()};
    AVFilterContext *source = nullptr, *forwarder = nullptr, *sink = nullptr;

    int make();
    int send(int64_t pts);
    int receive(int64_t pts);
    int run();
};

int TestGraph::make()
{
    static lavfi_abi::Filter forwarder_filter = make_forwarder();
    constexpr const char *shape = "video_size=16x16:pix_fmt=gray:time_base=1/1:frame_rate=25";
    const AVFilter *buffer = real_registry().get_by_name("buffer");
    const AVFilter *buffersink = real_registry().get_by_name("buffersink");
    int ret;

    if (!received || !frame || !graph)
        return AVERROR(ENOMEM);
    if (!buffer || !buffersink)
        return AVERROR_FILTER_NOT_FOUND;
    graph->nb_threads = 1;
    if ((ret = gate.open()) < 0 ||
        (ret = avfilter_graph_create_filter(&source, buffer, "in", shape, nullptr, graph.get())) <
            0 ||
        (ret = avfilter_graph_create_filter(&forwarder, &lavfi_abi::public_part(forwarder_filter),
                                            "forwarder", nullptr, nullptr, graph.get())) < 0 ||
        (ret = avfilter_graph_create_filter(&sink, buffersink, "out", nullptr, nullptr,
                                            graph.get())) < 0)
        return ret;
    *static_cast<Forwarder *>(forwarder->priv) = {
        .gate = &gate, .frame = received.get(), .steps = 0, .closed = false};
    if ((ret = avfilter_link(source, 0, forwarder, 0)) < 0 ||
        (ret = avfilter_link(forwarder, 0, sink, 0)) < 0)
        return ret;
    return avfilter_graph_config(graph.get(), nullptr);
}

int TestGraph::send(int64_t pts)
{
    frame->width = frame->height = 16;
    frame->format = AV_PIX_FMT_GRAY8;
    frame->pts = pts;
    int ret = av_frame_get_buffer(frame.get(), 0);
    return ret < 0 ? ret
                   : av_buffersrc_add_frame_flags(source, frame.get(), AV_BUFFERSRC_FLAG_PUSH);
}

int TestGraph::receive(int64_t pts)
{
    int ret = av_buffersink_get_frame(sink, frame.get());
    if (ret >= 0 && frame->pts != pts)
        ret = AVERROR_BUG;
    av_frame_unref(frame.get());
    return ret;
}

int TestGraph::run()
{
    for (int64_t pts = 0; pts < frames_sent; pts++) {
        int ret = send(pts);
        if (ret < 0 || (ret = receive(pts)) < 0)
            return ret;
    }
    int ret = av_buffersrc_close(source, frames_sent, AV_BUFFERSRC_FLAG_PUSH);
    if (ret < 0)
        return ret;
    ret = receive(frames_sent);
    return ret == AVERROR_EOF ? 0 : AVERROR_BUG;
}

std::string test_gate()
{
    TestGraph test;
    if (int ret = test.make(); ret < 0)
        return "no private graph can be made: " + words_of_code(ret);
    if (av_cmp_q(av_buffersink_get_frame_rate(test.sink), rate_out) != 0)
        return "the frame rate of a link cannot be set";
    if (int ret = test.run(); ret < 0)
        return "frames do not pass: " + words_of_code(ret);
    return {};
}

} // namespace

std::string both_versions(unsigned running)
{
    return concat("libavfilter ", version_text(running), " runs and this module was built for ",
                  version_text(LIBAVFILTER_VERSION_INT), " (FFmpeg ", lavfi_abi::ffmpeg_releases,
                  ")");
}

std::string both_versions()
{
    return both_versions(avfilter_version());
}

const char *gate_fault()
{
    static const std::string fault = [] {
        std::string what = test_gate();
        return what.empty() ? what : "the self-test failed, " + what + "; " + both_versions();
    }();
    return fault.empty() ? nullptr : fault.c_str();
}

} // namespace dnn_torch
