// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn_torch in a graph of this process, with the fake engine: what a sanitizer
// can look at as a whole.  DNN_TORCH_MODULE_PATH names the engine's folder.
#include "ffmpeg_pointers.h"
#include "filters/filters.h"
#include "registration/registry.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/log.h>
}

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

using namespace dnn_torch;

namespace {

constexpr int width = 16, height = 8;

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
    Graph(const std::string &script, const std::string &options)
        : script_(script), graph_(avfilter_graph_alloc()), frame_(av_frame_alloc())
    {
        std::string arguments = script_.path() + ":engine=fake:" + options;
        EXPECT_EQ(create(&source_, avfilter_get_by_name("buffer"), "in",
                         "video_size=16x8:pix_fmt=gray:time_base=1/25"),
                  0);
        EXPECT_EQ(create(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr), 0);
        status_ = create(&filter_, dnn_torch_filter(), "dnn", arguments.c_str());
        if (status_ >= 0)
            status_ = avfilter_link(source_, 0, filter_, 0);
        if (status_ >= 0)
            status_ = avfilter_link(filter_, 0, sink_, 0);
        if (status_ >= 0)
            status_ = avfilter_graph_config(graph_.get(), nullptr);
    }

    int status() const { return status_; }

    // The number of a frame is its first sample.
    int send(int number)
    {
        frame_->width = width;
        frame_->height = height;
        frame_->format = AV_PIX_FMT_GRAY8;
        frame_->pts = number;
        if (int ret = av_frame_get_buffer(frame_.get(), 0); ret < 0)
            return ret;
        for (int y = 0; y < height; y++)
            memset(frame_->data[0] + y * frame_->linesize[0], number % 100, width);
        return av_buffersrc_add_frame_flags(source_, frame_.get(), AV_BUFFERSRC_FLAG_PUSH);
    }

    int end() { return av_buffersrc_close(source_, AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH); }

    // Checks every frame that is there; AVERROR(EAGAIN), AVERROR_EOF or the failure.
    int receive()
    {
        for (;;) {
            int ret = av_buffersink_get_frame(sink_, frame_.get());
            if (ret < 0)
                return ret;
            EXPECT_EQ(frame_->pts, received_);
            EXPECT_EQ(frame_->data[0][0], received_ % 100);
            EXPECT_EQ(frame_->data[0][(height - 1) * frame_->linesize[0]], received_ % 100);
            received_++;
            av_frame_unref(frame_.get());
        }
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

void PrintTo(const Shape &shape, std::ostream *out) { *out << shape.options(); }

class Shapes : public testing::TestWithParam<Shape>
{
};

constexpr const char *random_latency = "latency_random_us 400\nseed 5\n";

TEST_P(Shapes, PassEveryFrameInOrder)
{
    Graph graph(random_latency, GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(301), AVERROR_EOF);
    EXPECT_EQ(graph.received(), 301);
}

TEST_P(Shapes, EndWithTheFailureAfterAllFramesBeforeIt)
{
    Graph graph(std::string(random_latency) + "fail_at 57\n", GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(301), AVERROR_EXTERNAL);
    // A batch fails as a whole.
    EXPECT_EQ(graph.received(), 57 / GetParam().batch_size * GetParam().batch_size);
}

TEST_P(Shapes, ComeDownWithFramesInFlight)
{
    Graph graph(random_latency, GetParam().options());
    ASSERT_EQ(graph.status(), 0);
    for (int i = 0; i < 20; i++)
        EXPECT_GE(graph.send(i), 0);
}

TEST_P(Shapes, ComeDownWithoutAFrame)
{
    Graph graph(random_latency, GetParam().options());
    EXPECT_EQ(graph.status(), 0);
}

TEST_P(Shapes, EndWithoutAFrame)
{
    Graph graph(random_latency, GetParam().options());
    EXPECT_EQ(graph.run(0), AVERROR_EOF);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes,
                         testing::Values(Shape{0, 0, 1, 0}, Shape{0, 0, 4, 0}, Shape{1, 0, 1, 0},
                                         Shape{1, 1, 1, 1}, Shape{1, 8, 1, 2}, Shape{1, 2, 4, 3},
                                         Shape{1, 16, 1, 8}, Shape{1, 3, 7, 2}));

TEST(Filter, AModelThatNeverComesBackRunsOutOfTime)
{
    Graph graph("hang_at 5\n", "threads=1:workers=2:nireq=4:timeout=1");
    ASSERT_EQ(graph.status(), 0);
    EXPECT_EQ(graph.run(50), AVERROR(ETIMEDOUT));
    EXPECT_EQ(graph.received(), 5);
}

TEST(Filter, AModelThatHangsDoesNotHoldUpTheEnd)
{
    Graph graph("hang_at 5\n", "threads=1:workers=2:nireq=16");
    ASSERT_EQ(graph.status(), 0);
    for (int i = 0; i < 9; i++)
        EXPECT_GE(graph.send(i), 0);
}

TEST(Filter, FailuresBeforeTheFirstFrameAreThoseOfInit)
{
    EXPECT_LT(Graph("fail_open broken\n", "threads=1").status(), 0);
    EXPECT_LT(Graph("nonsense 1\n", "threads=1").status(), 0);
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    av_log_set_level(AV_LOG_FATAL); // the failures here are wanted
    FilterRegistry linked{};
    linked.get_by_name = avfilter_get_by_name;
    linked.iterate = av_filter_iterate;
    set_real_registry(linked);
    return RUN_ALL_TESTS();
}
