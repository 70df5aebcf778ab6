// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn_torch in a graph of this process, with the fake engine: what a sanitizer
// can look at as a whole.  DNN_TORCH_MODULE_PATH names the engine's folder.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/filters/filters.h"
#include "host/libavfilter/real_registry.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/log.h>
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace dnn_torch
{

constexpr int graph_width = 16, graph_height = 8;

// A model's script that is removed with the test.
class Script
{
public:
    explicit Script(const std::string &text)
    {
        path_ = testing::TempDir() + "dnn_torch_" + std::to_string(getpid()) + ".txt";
        std::ofstream(path_) << "channels 0\n" << text;
    }
    ~Script() { unlink(path_.c_str()); }
    Script(const Script &) = delete;
    Script &operator=(const Script &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

class Graph
{
public:
    // A filter that is named by `behind` stands between ours and the sink.  `ours` takes
    // the place of dnn_torch.
    Graph(const std::string &script, const std::string &options, const char *behind = nullptr,
          const AVFilter *ours = dnn_torch_filter())
        : script_(script), graph_(avfilter_graph_alloc()), frame_(av_frame_alloc())
    {
        graph_->nb_threads = 1; // a forked process would wait for libavfilter's own
        std::string arguments = script_.path() + ":engine=fake:" + options;
        EXPECT_EQ(create(&source_, avfilter_get_by_name("buffer"), "in",
                         "video_size=16x8:pix_fmt=gray:time_base=1/25:frame_rate=25"),
                  0);
        EXPECT_EQ(create(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr), 0);
        status_ = create(&filter_, ours, "dnn", arguments.c_str());
        if (status_ >= 0)
            status_ = avfilter_link(source_, 0, filter_, 0);
        AVFilterContext *last = filter_;
        if (status_ >= 0 && behind)
            status_ = create(&last, avfilter_get_by_name(behind), "behind", nullptr);
        if (status_ >= 0 && last != filter_)
            status_ = avfilter_link(filter_, 0, last, 0);
        if (status_ >= 0)
            status_ = avfilter_link(last, 0, sink_, 0);
        if (status_ >= 0)
            status_ = avfilter_graph_config(graph_.get(), nullptr);
    }

    int status() const { return status_; }
    AVFilterContext *filter() { return filter_; }

    // The number of a frame is its first sample.  Without `flags` it waits in the graph.
    int send(int number, int flags = AV_BUFFERSRC_FLAG_PUSH)
    {
        frame_->width = graph_width;
        frame_->height = graph_height;
        frame_->format = AV_PIX_FMT_GRAY8;
        frame_->pts = number;
        if (int ret = av_frame_get_buffer(frame_.get(), 0); ret < 0)
            return ret;
        for (int y = 0; y < graph_height; y++)
            memset(frame_->data[0] + y * frame_->linesize[0], number % 100, graph_width);
        return av_buffersrc_add_frame_flags(source_, frame_.get(), flags);
    }

    int end() { return av_buffersrc_close(source_, AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH); }

    // Checks one frame; AVERROR(EAGAIN), AVERROR_EOF or the failure where there is none.
    int receive_one()
    {
        int ret = av_buffersink_get_frame(sink_, frame_.get());
        if (ret < 0)
            return ret;
        EXPECT_EQ(frame_->pts, received_);
        EXPECT_EQ(frame_->data[0][0], received_ % 100);
        EXPECT_EQ(frame_->data[0][(graph_height - 1) * frame_->linesize[0]], received_ % 100);
        received_++;
        av_frame_unref(frame_.get());
        return ret;
    }

    // The first sample of one frame, whatever it is.
    int receive_sample(int &sample)
    {
        int ret = av_buffersink_get_frame(sink_, frame_.get());
        if (ret >= 0)
            sample = frame_->data[0][0];
        av_frame_unref(frame_.get());
        return ret;
    }

    // All that are there.
    int receive()
    {
        for (;;)
            if (int ret = receive_one(); ret < 0)
                return ret;
    }

    // Sends `count` frames and ends the stream; how the stream ended.
    int run(int count)
    {
        int ret = AVERROR(EAGAIN);
        for (int i = 0; i < count && ret == AVERROR(EAGAIN); i++)
            ret = after(send(i));
        return ret == AVERROR(EAGAIN) ? after(end()) : ret;
    }

    int received() const { return received_; }

    // Ends without taking what is in flight.
    void free() { graph_.reset(); }

    // What the filter answers to a command; its status where it refuses.
    std::string command(const char *name, const char *value = "")
    {
        char answer[2048] = "";
        int ret = avfilter_graph_send_command(graph_.get(), "dnn", name, value, answer,
                                              sizeof(answer), 0);
        return ret < 0 ? "status " + std::to_string(ret) : answer;
    }

private:
    // A failure may come out of either; the frames before it are there in any case.
    int after(int status)
    {
        int received = receive();
        return status < 0 ? status : received;
    }

    int create(AVFilterContext **ctx, const AVFilter *filter, const char *name, const char *options)
    {
        return avfilter_graph_create_filter(ctx, filter, name, options, nullptr, graph_.get());
    }

    Script script_;
    GraphPointer graph_;
    FramePointer frame_;
    AVFilterContext *source_ = nullptr, *filter_ = nullptr, *sink_ = nullptr;
    int status_ = 0, received_ = 0;
};

struct Shape {
    int async, nireq, batch_size, workers;

    std::string options() const
    {
        char text[96];
        snprintf(text, sizeof(text), "threads=1:async=%d:nireq=%d:batch_size=%d:workers=%d", async,
                 nireq, batch_size, workers);
        return text;
    }
};

inline void PrintTo(const Shape &shape, std::ostream *out)
{
    *out << shape.options();
}

inline int run_filter_tests(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    av_log_set_level(AV_LOG_FATAL); // the failures here are wanted
    FilterRegistry linked{};
    linked.get_by_name = avfilter_get_by_name;
    linked.iterate = av_filter_iterate;
    set_real_registry(linked);
    return RUN_ALL_TESTS();
}

} // namespace dnn_torch
