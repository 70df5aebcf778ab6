// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The commands that put another model in the place of the one that runs, and watch=1.
// The models are scripts of the fake engine that paint each picture in one shade.
#include "filter_graph.h"
#include "host/filters/model_change.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

// The strength needs no other model.
bool is_command(const std::string &name)
{
    return ModelChange::is_command(name) || name == "strength";
}

TEST(Commands, AnOptionSaysThatItChangesWhileFramesPassIfACommandChangesIt)
{
    for (const AVOption *option = dnn_torch_filter()->priv_class->option; option->name; option++)
        EXPECT_EQ((option->flags & AV_OPT_FLAG_RUNTIME_PARAM) != 0, is_command(option->name))
            << option->name;
}

std::mutex log_mutex;
std::vector<std::string> logged_errors, logged_warnings;

void keep_lines(void *, int level, const char *format, va_list arguments)
{
    char line[1024];
    if (level > AV_LOG_WARNING)
        return;
    vsnprintf(line, sizeof(line), format, arguments);
    std::lock_guard lock(log_mutex);
    (level > AV_LOG_ERROR ? logged_warnings : logged_errors).emplace_back(line);
}

// A folder for models and what they log.
class Folder
{
public:
    Folder()
    {
        std::string name = testing::TempDir() + "dnn_torch_commands_XXXXXX";
        path_ = mkdtemp(name.data());
    }
    ~Folder()
    {
        for (const std::string &name : names_)
            unlink(name.c_str());
        rmdir(path_.c_str());
    }

    // A path for a file, which goes with the folder.
    std::string file(const std::string &name)
    {
        names_.push_back(path_ + "/" + name);
        return names_.back();
    }

    std::string model(const std::string &name, int shade, const std::string &more = "")
    {
        std::string path = file(name);
        write(path, shade, more);
        return path;
    }

    void write(const std::string &path, int shade, const std::string &more = "")
    {
        std::ofstream(path) << "loads " << loads_path() << "\ngain 0\noffset "
                            << static_cast<double>(shade) / 255 << "\n"
                            << more << "\n";
        std::this_thread::sleep_for(25ms); // what has just been written is not shared
    }

    int loads() { return count("open"); }
    int open_now() { return count("open") - count("close"); }

private:
    int count(const std::string &event)
    {
        std::ifstream opened(loads_path());
        int found = 0;
        for (std::string line; std::getline(opened, line);)
            found += line == event;
        return found;
    }

    std::string loads_path()
    {
        return std::find(names_.begin(), names_.end(), path_ + "/loads") == names_.end()
                   ? file("loads")
                   : path_ + "/loads";
    }

    std::string path_;
    std::vector<std::string> names_;
};

// A graph in which frames flow as long as the test wants.
class Film
{
public:
    Film(const std::string &model, const std::string &options)
        : graph_(avfilter_graph_alloc()), frame_(av_frame_alloc())
    {
        graph_->nb_threads = 1;
        std::string arguments = model + ":engine=fake:threads=1:" + options;
        create(&source_, avfilter_get_by_name("buffer"), "in",
               "video_size=16x8:pix_fmt=gray:time_base=1/25");
        create(&filter_, dnn_torch_filter(), "dnn", arguments.c_str());
        create(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr);
        EXPECT_EQ(avfilter_link(source_, 0, filter_, 0), 0);
        EXPECT_EQ(avfilter_link(filter_, 0, sink_, 0), 0);
        EXPECT_GE(avfilter_graph_config(graph_.get(), nullptr), 0);
    }

    int command(const char *name, const std::string &value)
    {
        char answer[64] = "";
        return avfilter_graph_send_command(graph_.get(), "dnn", name, value.c_str(), answer,
                                           sizeof(answer), 0);
    }

    // Sends one frame and takes what is there.
    void step()
    {
        frame_->width = graph_width;
        frame_->height = graph_height;
        frame_->format = AV_PIX_FMT_GRAY8;
        frame_->pts = sent_++;
        ASSERT_GE(av_frame_get_buffer(frame_.get(), 0), 0);
        ASSERT_GE(av_buffersrc_add_frame_flags(source_, frame_.get(), AV_BUFFERSRC_FLAG_PUSH), 0);
        take();
    }

    void steps(int count)
    {
        for (int i = 0; i < count; i++)
            step();
    }

    // Sends frames until that holds; false if it does not in ten seconds.
    bool steps_until(const std::function<bool()> &holds)
    {
        auto end = std::chrono::steady_clock::now() + 10s;
        while (!holds() && std::chrono::steady_clock::now() < end) {
            step();
            std::this_thread::sleep_for(1ms);
        }
        return holds();
    }

    // Sends frames until one of that shade comes out.
    bool reaches(int shade)
    {
        return steps_until([&] { return !shades_.empty() && shades_.back() == shade; });
    }

    // Ends the stream and takes all that is left.
    int end()
    {
        int ret = av_buffersrc_close(source_, AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH);
        return ret < 0 ? ret : take();
    }

    // Every frame has come out, in order; whether each shade follows on the one before it.
    void expect_all(const std::vector<int> &order) const
    {
        EXPECT_EQ(static_cast<int>(shades_.size()), sent_);
        std::vector<int> changes = shades_;
        changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
        EXPECT_EQ(changes, order);
    }

    const std::vector<int> &shades() const { return shades_; }
    int sent() const { return sent_; }

private:
    int take()
    {
        for (;;) {
            int ret = av_buffersink_get_frame(sink_, frame_.get());
            if (ret < 0)
                return ret;
            EXPECT_EQ(frame_->pts, static_cast<int64_t>(shades_.size()));
            EXPECT_EQ(frame_->width, graph_width);
            const uint8_t *last = frame_->data[0] + (graph_height - 1) * frame_->linesize[0];
            EXPECT_EQ(frame_->data[0][0], last[graph_width - 1]) << "a frame of two models";
            shades_.push_back(frame_->data[0][0]);
            av_frame_unref(frame_.get());
        }
    }

    void create(AVFilterContext **ctx, const AVFilter *filter, const char *name,
                const char *options)
    {
        EXPECT_GE(avfilter_graph_create_filter(ctx, filter, name, options, nullptr, graph_.get()),
                  0);
    }

    GraphPointer graph_;
    FramePointer frame_;
    AVFilterContext *source_ = nullptr, *filter_ = nullptr, *sink_ = nullptr;
    int sent_ = 0;
    std::vector<int> shades_;
};

class CommandsTest : public testing::TestWithParam<const char *>
{
protected:
    CommandsTest()
    {
        std::lock_guard lock(log_mutex);
        logged_errors.clear();
        logged_warnings.clear();
        av_log_set_callback(keep_lines);
    }
    ~CommandsTest() override { av_log_set_callback(av_log_default_callback); }

    static std::vector<std::string> errors()
    {
        std::lock_guard lock(log_mutex);
        return logged_errors;
    }

    static bool has_warned_of(const std::string &words)
    {
        std::lock_guard lock(log_mutex);
        return std::any_of(logged_warnings.begin(), logged_warnings.end(),
                           [&](const std::string &line) { return line.find(words) != line.npos; });
    }

    // One line says that the model is not used, with those words, and the old one goes on.
    void expect_refusal(const std::string &model, const std::string &words)
    {
        Film film(first_, options());
        film.steps(3);
        ASSERT_EQ(film.command("model", model), 0);
        EXPECT_TRUE(film.steps_until([&] { return !errors().empty(); }));
        film.steps(3);
        EXPECT_EQ(film.end(), AVERROR_EOF);
        film.expect_all({10});
        ASSERT_EQ(errors().size(), 1U);
        EXPECT_NE(errors()[0].find(words), std::string::npos) << errors()[0];
    }

    std::string options() const { return GetParam(); }

    Folder folder_;
    const std::string first_ = folder_.model("first", 10), second_ = folder_.model("second", 20);
};

INSTANTIATE_TEST_SUITE_P(Ways, CommandsTest,
                         testing::Values("async=0", "workers=2", "workers=2:batch_size=3"));

TEST_P(CommandsTest, AnotherModelTakesOverAtAFramesEdge)
{
    Film film(first_, options());
    film.steps(5);
    ASSERT_EQ(film.command("model", second_), 0);
    EXPECT_TRUE(film.reaches(20));
    ASSERT_EQ(film.command("model", first_), 0);
    EXPECT_TRUE(film.reaches(10));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 20, 10});
    EXPECT_TRUE(errors().empty());
}

TEST_P(CommandsTest, AModelMayComeBeforeTheFirstFrame)
{
    Film film(first_, options());
    ASSERT_EQ(film.command("model", second_), 0);
    EXPECT_TRUE(film.reaches(20));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    EXPECT_EQ(static_cast<int>(film.shades().size()), film.sent());
}

// Several commands at once are one change.
TEST_P(CommandsTest, OptionsOfTheModelChangeWithIt)
{
    Film film(first_, options());
    film.steps(3);
    int before = folder_.loads();
    ASSERT_EQ(film.command("precision", "bf16"), 0);
    ASSERT_EQ(film.command("optimize", "0"), 0);
    ASSERT_EQ(film.command("model", second_), 0);
    EXPECT_TRUE(film.reaches(20));
    EXPECT_EQ(folder_.loads(), before + 1);
    ASSERT_EQ(film.command("precision", "fp32"), 0);
    EXPECT_TRUE(film.steps_until([&] { return folder_.loads() == before + 2; }));
    film.steps(5);
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 20});
}

TEST_P(CommandsTest, AModelThatRemembersRunsInOrder)
{
    std::string recurrent = folder_.model("recurrent", 30, "in_order 1");
    Film film(first_, options());
    film.steps(5);
    ASSERT_EQ(film.command("model", recurrent), 0);
    EXPECT_TRUE(film.reaches(30));
    ASSERT_EQ(film.command("model", second_), 0);
    EXPECT_TRUE(film.reaches(20));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 30, 20});
}

TEST_P(CommandsTest, AMissingModelIsRefused)
{
    expect_refusal("/nowhere/model", "/nowhere/model");
}

TEST_P(CommandsTest, ADamagedModelIsRefused)
{
    expect_refusal(folder_.model("damaged", 20, "fail_open it is damaged"), "it is damaged");
}

TEST_P(CommandsTest, AModelWithoutASessionIsRefused)
{
    expect_refusal(folder_.model("no_session", 20, "fail_session_open 1"), "session fails");
}

TEST_P(CommandsTest, ADoubtfulModelIsWarnedOf)
{
    std::string doubtful = folder_.model("doubtful", 20, "fail_rgb it has its reasons");
    Film film(first_, options());
    film.steps(3);
    ASSERT_EQ(film.command("model", doubtful), 0);
    EXPECT_TRUE(film.reaches(20));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    EXPECT_TRUE(has_warned_of("it has its reasons"));
}

TEST_P(CommandsTest, AModelOfAnotherSizeIsRefused)
{
    expect_refusal(folder_.model("larger", 20, "scale 2"), "32x16");
}

TEST_P(CommandsTest, AModelOfOtherChannelsIsRefused)
{
    expect_refusal(folder_.model("rgb", 20, "channels 3"), "gray");
}

TEST_P(CommandsTest, WhatIsNoValueIsAnErrorOfTheCommand)
{
    Film film(first_, options());
    film.steps(2);
    for (const char *name : {"model", "precision", "optimize"})
        EXPECT_EQ(film.command(name, ""), AVERROR(EINVAL)) << name;
    EXPECT_EQ(film.command("workers", "2"), AVERROR(ENOSYS));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10});
}

TEST_P(CommandsTest, AValueThatTheEngineDoesNotKnowIsAnErrorOfTheCommand)
{
    Film film(first_, options());
    film.steps(2);
    for (const char *value : {"fp64", "auto, fp32", "fp3", " ", "\n"})
        EXPECT_EQ(film.command("precision", value), AVERROR(EINVAL)) << value;
    ASSERT_EQ(errors().size(), 5U);
    EXPECT_NE(errors()[0].find("precision=fp64 is unknown; choose among auto, fp32, bf16"),
              std::string::npos)
        << errors()[0];
    EXPECT_EQ(film.command("precision", "bf16"), 0);
    EXPECT_EQ(film.command("optimize", "of this engine"), 0); // it says nothing of forms
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10});
}

// Nobody waits for a model but whoever asked for it.
TEST_P(CommandsTest, FramesGoOnWhileAModelIsOpened)
{
    std::string slow = folder_.model("slow", 20, "open_us 1000000");
    Film film(first_, options());
    film.steps(3);
    auto longest = std::chrono::steady_clock::duration::zero();
    ASSERT_EQ(film.command("model", slow), 0);
    auto one_more = [&] {
        auto before = std::chrono::steady_clock::now();
        film.step();
        longest = std::max(longest, std::chrono::steady_clock::now() - before);
        return !film.shades().empty() && film.shades().back() == 20;
    };
    EXPECT_TRUE(film.steps_until(one_more));
    EXPECT_LT(longest, 500ms);
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 20});
}

TEST_P(CommandsTest, AHundredModelsLeaveNothingOpen)
{
    constexpr int at_rest = 4, in_use = 2;
    Film film(first_, options());
    film.steps(2);
    for (int shade = 100; shade < 200; shade++) {
        folder_.write(second_, shade);
        ASSERT_EQ(film.command("model", second_), 0);
        ASSERT_TRUE(film.reaches(shade));
        ASSERT_LE(folder_.open_now(), at_rest + in_use);
    }
    EXPECT_EQ(film.end(), AVERROR_EOF);
    EXPECT_EQ(static_cast<int>(film.shades().size()), film.sent());
}

TEST_P(CommandsTest, AHundredChangesLoseNoFrame)
{
    Film film(first_, options());
    film.steps(2);
    for (int i = 0; i < 50; i++) {
        ASSERT_EQ(film.command("model", second_), 0);
        ASSERT_TRUE(film.reaches(20)) << i;
        ASSERT_EQ(film.command("model", first_), 0);
        ASSERT_TRUE(film.reaches(10)) << i;
    }
    EXPECT_EQ(film.end(), AVERROR_EOF);
    EXPECT_EQ(static_cast<int>(film.shades().size()), film.sent());
    EXPECT_EQ(folder_.loads(), 2);
}

TEST_P(CommandsTest, TheEndDoesNotWaitForAModel)
{
    std::string slow = folder_.model("slow", 20, "open_us 20000000");
    auto start = std::chrono::steady_clock::now();
    {
        Film film(first_, options());
        film.steps(5);
        ASSERT_EQ(film.command("model", slow), 0);
        film.steps(5);
        EXPECT_EQ(film.end(), AVERROR_EOF);
        film.expect_all({10});
    }
    EXPECT_TRUE(has_warned_of("before the filter could change to model=" + slow));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

class WatchTest : public CommandsTest
{
};

INSTANTIATE_TEST_SUITE_P(Ways, WatchTest, testing::Values("workers=2"));

TEST_P(WatchTest, AFileInThePlaceOfTheOldOneIsNoticed)
{
    Film film(first_, options() + ":watch=1");
    film.steps(5);
    std::string other = folder_.model("other", 30);
    ASSERT_EQ(rename(other.c_str(), first_.c_str()), 0);
    EXPECT_TRUE(film.reaches(30));
    // A file that is no model, and then one again.
    std::string damaged = folder_.model("damaged", 40, "no such key");
    ASSERT_EQ(rename(damaged.c_str(), first_.c_str()), 0);
    EXPECT_TRUE(film.steps_until([&] { return !errors().empty(); }));
    folder_.write(first_, 50);
    EXPECT_TRUE(film.reaches(50));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 30, 50});
    EXPECT_EQ(errors().size(), 1U);
}

TEST_P(WatchTest, ACommandThatFailsDoesNotHideAChangeOfTheFile)
{
    Film film(first_, options() + ":watch=1");
    film.steps(5);
    std::string other = folder_.model("other", 30);
    ASSERT_EQ(rename(other.c_str(), first_.c_str()), 0);
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(film.command("model", "/nowhere/model"), 0);
        EXPECT_TRUE(film.steps_until([&] { return errors().size() == size_t(i) + 1; }));
    }
    EXPECT_TRUE(film.reaches(30));
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10, 30});
}

TEST_P(WatchTest, WithoutWatchAFileIsLeftAlone)
{
    Film film(first_, options());
    film.steps(5);
    folder_.write(first_, 30);
    auto end = std::chrono::steady_clock::now() + 1500ms;
    film.steps_until([&] { return std::chrono::steady_clock::now() > end; });
    EXPECT_EQ(film.end(), AVERROR_EOF);
    film.expect_all({10});
}

} // namespace

int main(int argc, char **argv)
{
    return run_filter_tests(argc, argv);
}
