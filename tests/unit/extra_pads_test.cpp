// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A pad that one instance has more than its AVFilter, and lists of formats that two pads share.
#include "host/ffmpeg_pointers.h"
#include "host/libavfilter/extra_pads.h"
#include "host/libavfilter/format_lists.h"

#include <gtest/gtest.h>
#include <lavfi_abi.h>
#include <string>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr const char *shape = "video_size=16x16:pix_fmt=gray:time_base=1/25";
constexpr AVPixelFormat colours[] = {AV_PIX_FMT_RGB24, AV_PIX_FMT_GBRP, AV_PIX_FMT_NONE};
constexpr AVPixelFormat grey[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE};

struct Graph {
    GraphPointer graph{avfilter_graph_alloc()};
    AVFilterContext *filter =
        avfilter_graph_alloc_filter(graph.get(), avfilter_get_by_name("null"), "filter");

    bool is_ready = false;

    // Links a source to that input.  From FFmpeg 8 on a filter is initialised before.
    void feed(unsigned pad)
    {
        if (!is_ready) {
            ASSERT_EQ(avfilter_init_str(filter, nullptr), 0);
        }
        is_ready = true;
        AVFilterContext *source = nullptr;
        const std::string name = "source" + std::to_string(pad);
        ASSERT_GE(avfilter_graph_create_filter(&source, avfilter_get_by_name("buffer"),
                                               name.c_str(), shape, nullptr, graph.get()),
                  0);
        ASSERT_EQ(avfilter_link(source, 0, filter, pad), 0);
    }
};

TEST(ExtraPads, AreOfOneInstanceAlone)
{
    Graph graph;
    AVFilterContext *const filter = graph.filter;
    for (const char *name : {"reference", "mask"})
        ASSERT_EQ(append_input_pad(filter, name), 0);
    ASSERT_EQ(filter->nb_inputs, 3U);
    EXPECT_STREQ(avfilter_pad_get_name(filter->input_pads, 0), "default");
    EXPECT_STREQ(avfilter_pad_get_name(filter->input_pads, 1), "reference");
    EXPECT_STREQ(avfilter_pad_get_name(filter->input_pads, 2), "mask");
    EXPECT_EQ(avfilter_pad_get_type(filter->input_pads, 2), AVMEDIA_TYPE_VIDEO);
    EXPECT_EQ(filter->inputs[2], nullptr);

    Graph other;
    EXPECT_EQ(other.filter->nb_inputs, 1U);
    for (unsigned pad = 0; pad < 3; pad++) {
        graph.feed(pad);
        ASSERT_NE(filter->inputs[pad], nullptr);
        EXPECT_EQ(filter->inputs[pad]->dstpad,
                  reinterpret_cast<AVFilterPad *>(
                      reinterpret_cast<lavfi_abi::Pad *>(filter->input_pads) + pad));
    }
}

TEST(ExtraPads, AnUnlinkedOneIsAnErrorOfTheGraph)
{
    Graph graph;
    ASSERT_EQ(append_input_pad(graph.filter, "mask"), 0);
    graph.feed(0);
    EXPECT_LT(avfilter_graph_config(graph.graph.get(), nullptr), 0);
}

TEST(ExtraPads, FramesKeepTheirFormatBesideOneOfAnother)
{
    Graph graph;
    AVFilterContext *const filter = graph.filter, *sink = nullptr;
    ASSERT_EQ(append_input_pad(filter, "mask"), 0);
    graph.feed(0);
    graph.feed(1);
    ASSERT_GE(avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "sink",
                                           nullptr, nullptr, graph.graph.get()),
              0);
    ASSERT_EQ(avfilter_link(filter, 0, sink, 0), 0);
    const std::vector<const AVPixelFormat *> in = {colours, grey};
    for (int again = 0; again < 2; again++)
        ASSERT_EQ(set_link_formats(filter, in, colours), 0);
    auto *const first = *lavfi_abi::destination_formats(filter->inputs[0]);
    auto *const extra = *lavfi_abi::destination_formats(filter->inputs[1]);
    EXPECT_EQ(*lavfi_abi::source_formats(filter->outputs[0]), first);
    EXPECT_EQ(first->refcount, 2U);
    EXPECT_EQ(first->nb_formats, 2U);
    EXPECT_NE(extra, first);
    EXPECT_EQ(extra->refcount, 1U);
    EXPECT_EQ(extra->nb_formats, 1U);
}

} // namespace
