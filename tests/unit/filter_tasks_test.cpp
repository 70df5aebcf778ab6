// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The frame loop with tasks of the test's own, in a filter that is made of the same parts.
#include "fake_tasks.h"
#include "filter_graph.h"
#include "host/filters/frame_loop.h"
#include "host/filters/model_opener.h"
#include "host/guard.h"

#include <lavfi_abi.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

using namespace dnn_torch;

namespace
{

struct Kind {
    PerFrame per_frame;
    Window window;
};
Kind kind; // of the filters that are made next

// Asks its model for nothing.
class FakeTask : public Task
{
public:
    FakeTask(std::shared_ptr<Model> model, Kind of, size_t batch_size)
        : Task(std::move(model)), kind_(std::move(of)), batch_size_(batch_size)
    {
    }
    TaskFindings examine() override { return {.takes = "anything", .warning = ""}; }
    const AVPixelFormat *formats() const override
    {
        static const AVPixelFormat grey[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE};
        return grey;
    }
    NewPlan plan(const FrameShape &input, const PlanParameters &) override
    {
        auto plan = std::make_shared<FakePlan>(kind_.per_frame, kind_.window, batch_size_);
        plan->input = input;
        return {.plan = std::move(plan),
                .cost = {},
                .variants = {.single_threaded = {.words = "fake"}},
                .hint = ""};
    }

private:
    Kind kind_;
    size_t batch_size_;
};

// What ModelFilter is but for commands.
struct TestFilter {
    TestFilter(AVFilterContext *ctx, const FilterSettings &settings)
        : log(ctx, settings), opener(ctx, settings, {.make = make_task}),
          loop(ctx, {.async = settings.run.async != 0, .timeout = std::chrono::seconds(60)}, opener,
               log)
    {
        loop.open();
        opener.open(request_of(settings.model));
    }

    static std::unique_ptr<Task> make_task(std::shared_ptr<Model> model, const Contract &,
                                           size_t batch_size)
    {
        return std::make_unique<FakeTask>(std::move(model), kind, batch_size);
    }

    RunLog log;
    ModelOpener opener;
    FrameLoop loop;
};

// Plain, as libavfilter wants it.
struct TestData {
    const AVClass *av_class;
    FilterSettings settings;
    TestFilter *filter;
};

TestData &data_of(AVFilterContext *ctx)
{
    return *static_cast<TestData *>(ctx->priv);
}

int init(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        data_of(ctx).filter = new TestFilter(ctx, data_of(ctx).settings);
        return 0;
    });
}

void uninit(AVFilterContext *ctx) noexcept
{
    delete data_of(ctx).filter;
}

int config_output(AVFilterLink *out) noexcept
{
    const AVFilterLink *in = out->src->inputs[0];
    data_of(out->src).filter->loop.expect({.format = static_cast<AVPixelFormat>(in->format),
                                           .size = {in->w, in->h},
                                           .time_base = in->time_base});
    return 0;
}

int activate(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] { return data_of(ctx).filter->loop.take_turn(); });
}

lavfi_abi::Pad make_pad(int (*config_props)(AVFilterLink *))
{
    lavfi_abi::Pad pad{};
    pad.name = "default";
    pad.type = AVMEDIA_TYPE_VIDEO;
    pad.config_props = config_props;
    return pad;
}

const AVFilter *fake_task_filter()
{
    static const OptionTable options = compose({model_options(offsetof(TestData, settings.model)),
                                                run_options(offsetof(TestData, settings.run))},
                                               {"model"});
    static const AVClass options_class = [] {
        AVClass made{};
        made.class_name = "test";
        made.item_name = av_default_item_name;
        made.option = options.data();
        made.version = LIBAVUTIL_VERSION_INT;
        return made;
    }();
    static const AVPixelFormat grey[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE};
    static const lavfi_abi::Pad inputs[] = {make_pad(nullptr)};
    static const lavfi_abi::Pad outputs[] = {make_pad(config_output)};
    static const lavfi_abi::Filter filter = [] {
        lavfi_abi::Filter made{};
        AVFilter &visible = lavfi_abi::public_part(made);
        visible.name = "test";
        visible.inputs = lavfi_abi::as_pads(inputs);
        visible.outputs = lavfi_abi::as_pads(outputs);
        visible.priv_class = &options_class;
        made.nb_inputs = made.nb_outputs = 1;
        made.formats_state = lavfi_abi::formats_pixel_list(avfilter_version());
        made.formats.pixels_list = grey;
        made.priv_size = sizeof(TestData);
        made.init = init;
        made.uninit = uninit;
        made.activate = activate;
        return made;
    }();
    return &lavfi_abi::public_part(filter);
}

// The samples of all that comes out for `count` frames, which are numbered from 0 on.
std::vector<int> run_task(const Kind &of, const std::string &options, int count)
{
    kind = of;
    Graph graph("", "threads=1:" + options, nullptr, fake_task_filter());
    EXPECT_EQ(graph.status(), 0);
    std::vector<int> samples;
    auto receive = [&] {
        int sample = 0, ret = 0;
        while ((ret = graph.receive_sample(sample)) >= 0)
            samples.push_back(sample);
        return ret;
    };
    for (int number = 0; number < count; number++) {
        EXPECT_GE(graph.send(number), 0);
        EXPECT_EQ(receive(), AVERROR(EAGAIN));
    }
    EXPECT_GE(graph.end(), 0);
    EXPECT_EQ(receive(), AVERROR_EOF);
    return samples;
}

class FilterTasks : public testing::TestWithParam<const char *>
{
};

TEST_P(FilterTasks, AWindowOfThree)
{
    std::vector<int> wanted = {1};
    for (int number = 1; number < 29; number++)
        wanted.push_back(3 * number);
    wanted.push_back(28 + 29);
    EXPECT_EQ(run_task({sum_of_window, {.before = 1, .after = 1}}, GetParam(), 30), wanted);
}

TEST_P(FilterTasks, MoreFramesOutThanIn)
{
    std::vector<int> wanted;
    for (int number = 0; number < 30; number++)
        wanted.insert(wanted.end(), {number, number});
    EXPECT_EQ(run_task({doubled, {.after = 1}}, GetParam(), 30), wanted);
}

TEST_P(FilterTasks, FewerFramesOutThanIn)
{
    EXPECT_EQ(run_task({each_third, {}}, GetParam(), 14), (std::vector<int>{0, 3, 6, 9, 12}));
}

TEST_P(FilterTasks, NoFrameOutAtAll)
{
    EXPECT_EQ(run_task({[](FrameItem &) {}, {}}, GetParam(), 40), std::vector<int>{});
}

INSTANTIATE_TEST_SUITE_P(All, FilterTasks,
                         testing::Values("async=0", "workers=2:nireq=3", "workers=2:nireq=8",
                                         "batch_size=4:workers=2:nireq=2", "workers=1:nireq=1"));

// Frames in the graph's queue, which come all at once: none of them may be left there.
TEST(FilterTasks, FramesThatBecomeNothingMakeRoomForThoseBehind)
{
    kind = {each_third, {}};
    Graph graph("", "threads=1:workers=1:nireq=2", nullptr, fake_task_filter());
    ASSERT_EQ(graph.status(), 0);
    for (int number = 0; number < 30; number++)
        EXPECT_GE(graph.send(number, 0), 0);
    EXPECT_GE(graph.end(), 0);
    int sample = 0, count = 0, ret = 0;
    while ((ret = graph.receive_sample(sample)) >= 0)
        EXPECT_EQ(sample, 3 * count++);
    EXPECT_EQ(ret, AVERROR_EOF);
    EXPECT_EQ(count, 10);
}

// ---- going over to other work ------------------------------------------------------

void add_nothing(FrameItem &item)
{
    item.results.push_back(std::move(item.frame));
}

// A filter that goes over to other work while frames pass.
class GoingOver : public testing::Test
{
protected:
    // Frames come out with `number` added to their samples.
    void go_over(int number, size_t workers, Size size = {graph_width, graph_height},
                 Window window = {})
    {
        auto add = [number](FrameItem &item) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            FramePointer result = numbered_frame(number_of(item.frame) + number);
            result->pts = item.frame->pts;
            item.results.push_back(std::move(result));
        };
        auto plan = std::make_shared<FakePlan>(add, window, 1);
        plan->input.size = size;
        plan->open_sessions = counted;
        TestFilter &filter = *data_of(graph.filter()).filter;
        filter.loop.switch_to(
            {.task = std::make_shared<FakeTask>(filter.opener.task().model(), Kind{add, window}, 1),
             .plan = plan,
             .budget = {.workers = workers, .threads_per_worker = 1, .in_flight = workers + 1},
             .variant = "fake",
             .hint = ""});
    }

    // All that is there; how it ended.
    int receive()
    {
        int sample = 0, ret = 0;
        while ((ret = graph.receive_sample(sample)) >= 0)
            samples.push_back(sample);
        return ret;
    }

    void pass(int first, int end)
    {
        for (int number = first; number < end; number++) {
            EXPECT_GE(graph.send(number), 0);
            EXPECT_EQ(receive(), AVERROR(EAGAIN));
        }
    }

    void finish()
    {
        EXPECT_GE(graph.end(), 0);
        EXPECT_EQ(receive(), AVERROR_EOF);
    }

    std::atomic<int> sessions{0}, other_sessions{0}; // outlive the graph
    std::atomic<int> *counted = &sessions;
    Kind own = kind = {add_nothing, {}};
    Graph graph{"", "threads=1:workers=3:nireq=4", nullptr, fake_task_filter()};
    std::vector<int> samples;
};

// To work for as many workers, for fewer, for more, and for frames that wait for others.
TEST_F(GoingOver, IsAtAFramesEdgeAndLosesNone)
{
    pass(0, 20);
    go_over(50, 3);
    pass(20, 40);
    go_over(100, 1);
    pass(40, 60);
    go_over(150, 3);
    pass(60, 80);
    go_over(0, 3, {graph_width, graph_height}, {.before = 1, .after = 2});
    pass(80, 100);
    finish();
    ASSERT_EQ(samples.size(), 100U);
    for (int number = 0; number < 100; number++)
        EXPECT_EQ(samples[static_cast<size_t>(number)],
                  number + (number < 80 ? 50 * (number / 20) : 0));
    EXPECT_EQ(sessions, 0) << "the end has closed them";
}

TEST_F(GoingOver, AHundredTimes)
{
    for (int number = 0; number < 100; number++) {
        go_over(number % 7, 3);
        pass(number, number + 1);
    }
    finish();
    ASSERT_EQ(samples.size(), 100U);
    for (int number = 0; number < 100; number++)
        EXPECT_EQ(samples[static_cast<size_t>(number)], number + number % 7);
}

// Those of workers that have no frame to work on as well.
TEST_F(GoingOver, ClosesTheSessionsBefore)
{
    go_over(0, 3);
    pass(0, 30);
    counted = &other_sessions;
    go_over(1, 3);
    pass(30, 60);
    for (int tries = 0; tries < 5000 && sessions; tries++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(sessions, 0);
    EXPECT_GE(other_sessions, 1);
    finish();
}

TEST_F(GoingOver, WorkForOtherFramesIsLeft)
{
    pass(0, 5);
    go_over(7, 3, {2 * graph_width, graph_height});
    pass(5, 20);
    finish();
    EXPECT_EQ(samples.size(), 20U);
    for (size_t number = 0; number < samples.size(); number++)
        EXPECT_EQ(samples[number], static_cast<int>(number));
}

TEST_F(GoingOver, BeforeTheFirstFrame)
{
    go_over(7, 2);
    pass(0, 5);
    finish();
    EXPECT_EQ(samples, (std::vector<int>{7, 8, 9, 10, 11}));
}

} // namespace
