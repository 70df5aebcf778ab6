// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The fake engine, so that a failing test of the pool is the pool's failure, alone or in a process
// of its own:
// fake_engine_test ENGINE
// fake_engine_test ENGINE-ISOLATED NAME
#include "engine_under_test.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <thread>
#include <unistd.h>

namespace
{

using Clock = std::chrono::steady_clock;

std::string engine_path;

// A script in a file, a model of it and a session.
class Scripted
{
public:
    explicit Scripted(const std::string &script)
        : path_(write(script)), model(options_for(path_)),
          session(model.opened.status == DNN_TORCH_OK ? std::make_unique<Session>(model) : nullptr)
    {
    }
    ~Scripted() { unlink(path_.c_str()); }
    Scripted(const Scripted &) = delete;
    Scripted &operator=(const Scripted &) = delete;

private:
    static std::string write(const std::string &script)
    {
        static int count = 0;
        const std::string path = testing::TempDir() + "script-" + std::to_string(getpid()) + "-" +
                                 std::to_string(count++) + ".txt";
        std::ofstream(path) << script;
        return path;
    }
    std::string path_;

public:
    Model model;
    std::unique_ptr<Session> session;
};

// Pictures whose first samples tell these numbers.
std::unique_ptr<Pictures> numbered(const std::vector<int> &numbers, int channels = 3,
                                   int height = 4, int width = 6)
{
    auto pictures =
        std::make_unique<Pictures>(static_cast<int>(numbers.size()), channels, height, width);
    const size_t size = pictures->samples.size() / numbers.size();
    for (size_t i = 0; i < numbers.size(); i++)
        pictures->samples[i * size] = static_cast<float>(numbers[i]) / 255.0F;
    return pictures;
}

Outcome run(Scripted &scripted, const std::vector<int> &numbers)
{
    return scripted.session->run(*numbered(numbers));
}

TEST(Script, IdentityByDefault)
{
    Scripted scripted("");
    const auto pictures = numbered({1, 2});
    ASSERT_EQ(scripted.session->run(*pictures).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(scripted.session->output), pictures->samples);
    EXPECT_EQ(scripted.model.notice(), "");
}

TEST(Script, CommentsAndBlanks)
{
    Scripted scripted("# a comment\n\n   gain 2  \r\n\tnotice  two words # no comment\n");
    ASSERT_EQ(run(scripted, {51}).status, DNN_TORCH_OK);
    EXPECT_EQ(sample(scripted.session->output, 0, 0, 0, 0), 0.4F);
    EXPECT_EQ(scripted.model.notice(), "two words # no comment");
}

TEST(Script, WrongLinesAreNamed)
{
    const auto expect_refused = [](const char *script, std::vector<std::string> parts) {
        expect_failure(Scripted(script).model.opened, DNN_TORCH_BAD_MODEL, parts);
    };
    expect_refused("gain 1\nnosuch 3\n", {"line 2", "unknown key 'nosuch'"});
    expect_refused("gain one\n", {"line 1", "'one'", "gain"});
    expect_refused("channels 3x\n", {"line 1", "3x"});
    expect_refused("channels\n", {"line 1", "channels"});
    expect_refused("scale 0\n", {"line 1", "scale"});
    expect_refused("scale 1/0\n", {"line 1", "scale"});
    expect_refused("scale 2/\n", {"line 1", "scale"});
    expect_refused("fail_open no such thing\n", {"no such thing"});
}

TEST(Script, Missing)
{
    expect_failure(Model(Options{}).opened, DNN_TORCH_BAD_OPTION, {"model"});
}

TEST(Script, GainAndOffset)
{
    Scripted scripted("gain -1\noffset 1\n");
    const auto pictures = numbered({7});
    ASSERT_EQ(scripted.session->run(*pictures).status, DNN_TORCH_OK);
    for (size_t i = 0; i < pictures->samples.size(); i++)
        EXPECT_EQ(samples_of(scripted.session->output)[i], 1.0F - pictures->samples[i]);
}

TEST(Script, Sizes)
{
    const auto expect_size = [](const char *script, int width, int height) {
        Scripted scripted(script);
        ASSERT_EQ(run(scripted, {1}).status, DNN_TORCH_OK);
        EXPECT_EQ(scripted.session->output.width, width) << script;
        EXPECT_EQ(scripted.session->output.height, height) << script;
    };
    expect_size("scale 2", 12, 8);
    expect_size("scale 1/2", 3, 2);
    expect_size("scale 3/2", 9, 6);
    expect_size("shrink 3", 3, 1);
    expect_size("scale 2\nshrink 5", 7, 3);
    Scripted nothing("shrink 4");
    expect_failure(run(nothing, {1}), DNN_TORCH_RUN_FAILED, {"6x4"});
}

TEST(Script, NearestNeighbour)
{
    Scripted scripted("scale 2");
    const auto pictures = numbered({1});
    ASSERT_EQ(scripted.session->run(*pictures).status, DNN_TORCH_OK);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 12; x++)
            EXPECT_EQ(sample(scripted.session->output, 0, 1, y, x),
                      sample(pictures->view, 0, 1, y / 2, x / 2));
}

TEST(Script, Channels)
{
    Scripted picky("channels 1"), wide("output_channels 4");
    expect_failure(run(picky, {1}), DNN_TORCH_BAD_INPUT, {"1 channels", "got 3"});
    EXPECT_EQ(picky.session->run(*numbered({1}, 1)).status, DNN_TORCH_OK);
    ASSERT_EQ(run(wide, {1}).status, DNN_TORCH_OK);
    EXPECT_EQ(wide.session->output.channels, 4);
}

TEST(Faults, HitTheirPictureAlone)
{
    const auto expect_fault = [](const char *script, DnnTorchStatus status) {
        Scripted scripted(script);
        EXPECT_EQ(run(scripted, {6}).status, DNN_TORCH_OK) << script;
        EXPECT_EQ(run(scripted, {5, 7}).status, status) << script;
        EXPECT_EQ(run(scripted, {1, 7}).status, status) << script;
        EXPECT_EQ(run(scripted, {8}).status, DNN_TORCH_OK) << script;
    };
    expect_fault("fail_at 7", DNN_TORCH_RUN_FAILED);
    expect_fault("out_of_memory_at 7", DNN_TORCH_OUT_OF_MEMORY);
    Scripted worded("fail_at 7\nfail_text in so many words");
    expect_failure(run(worded, {7}), DNN_TORCH_RUN_FAILED, {"in so many words"});
}

TEST(Faults, KeepTheirStatus)
{
    for (int status = DNN_TORCH_BAD_OPTION; status <= DNN_TORCH_WRONG_RANK; status++) {
        if (status == DNN_TORCH_CRASHED) // of the engine "isolated" alone
            continue;
        Scripted scripted("fail_rgb it has its reasons\nfail_rgb_status " + std::to_string(status));
        EXPECT_EQ(run(scripted, {1}).status, status);
    }
}

TEST(Faults, WrongViews)
{
    Scripted scripted("wrong_batch_at 1\nwrong_size_at 2\n");
    ASSERT_EQ(run(scripted, {1, 9}).status, DNN_TORCH_OK);
    EXPECT_EQ(scripted.session->output.batch, 3);
    EXPECT_EQ(samples_of(scripted.session->output).size(), 3U * 3 * 4 * 6);
    ASSERT_EQ(run(scripted, {2}).status, DNN_TORCH_OK);
    EXPECT_EQ(scripted.session->output.width, 7);
    ASSERT_EQ(run(scripted, {4}).status, DNN_TORCH_OK);
    EXPECT_EQ(scripted.session->output.width, 6);
}

TEST(Faults, WrongElements)
{
    Scripted scripted("wrong_element_at 3\n");
    ASSERT_EQ(run(scripted, {3}).status, DNN_TORCH_OK);
    EXPECT_EQ(scripted.session->output.element, 99);
    ASSERT_EQ(run(scripted, {4}).status, DNN_TORCH_OK);
    EXPECT_EQ(scripted.session->output.element, DNN_TORCH_F32);
}

TEST(Faults, Nan)
{
    Scripted scripted("nan_at 3");
    ASSERT_EQ(run(scripted, {2, 3}).status, DNN_TORCH_OK);
    EXPECT_FALSE(std::isnan(sample(scripted.session->output, 0, 0, 0, 0)));
    EXPECT_TRUE(std::isnan(sample(scripted.session->output, 1, 2, 3, 5)));
}

TEST(Faults, SessionOpen)
{
    Scripted scripted("fail_session_open 2");
    EXPECT_EQ(scripted.session->opened.status, DNN_TORCH_OK);
    expect_failure(Session(scripted.model).opened, DNN_TORCH_RUN_FAILED, {"session"});
    EXPECT_EQ(Session(scripted.model).opened.status, DNN_TORCH_OK);
}

TEST(Input, IsChecked)
{
    Scripted scripted("");
    const auto pictures = numbered({1});
    Images view = pictures->view;
    view.element = DNN_TORCH_U8;
    expect_failure(scripted.session->run(view), DNN_TORCH_BAD_INPUT, {"white"});
    view.element = 0;
    expect_failure(scripted.session->run(view), DNN_TORCH_BAD_INPUT, {"samples"});
    view.element = DNN_TORCH_F32;
    view.width = 0;
    expect_failure(scripted.session->run(view), DNN_TORCH_BAD_INPUT, {"empty"});
}

TEST(Time, Latency)
{
    Scripted scripted("latency_us 30000\nlatency_random_us 1000");
    const Clock::time_point begin = Clock::now();
    EXPECT_EQ(run(scripted, {1}).status, DNN_TORCH_OK);
    EXPECT_GE(Clock::now() - begin, std::chrono::microseconds(30000));
}

TEST(Time, SessionsOverlap)
{
    Scripted scripted("latency_us 100000");
    const Clock::time_point begin = Clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&] {
            Session session(scripted.model);
            EXPECT_EQ(session.run(*numbered({1})).status, DNN_TORCH_OK);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(8 * 100 / 2));
}

void expect_stop_ends(const char *script)
{
    Scripted scripted(script);
    std::thread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        scripted.session->stop();
    });
    expect_failure(run(scripted, {5}), DNN_TORCH_STOPPED, {"stopped"});
    stopper.join();
    EXPECT_EQ(run(scripted, {1}).status, DNN_TORCH_STOPPED);
}

TEST(Stop, EndsWhatHangs)
{
    expect_stop_ends("hang_at 5");
}

TEST(Stop, EndsWhatSleeps)
{
    expect_stop_ends("latency_us 60000000");
}

TEST(Log, HasALineForEachRun)
{
    const std::string log = testing::TempDir() + "log-" + std::to_string(getpid());
    {
        Scripted scripted("log " + log);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&] {
                Session session(scripted.model);
                for (int n = 0; n < 5; n++)
                    EXPECT_EQ(session.run(*numbered({1, 2})).status, DNN_TORCH_OK);
            });
        for (std::thread &thread : threads)
            thread.join();
    }
    std::ifstream file(log);
    int lines = 0;
    std::string thread;
    for (int batch = 0, number = 0, behind = 0, more = 0;
         file >> thread >> batch >> number >> behind >> more; lines++)
        EXPECT_EQ(batch, 2);
    EXPECT_EQ(lines, 20);
    unlink(log.c_str());
}

TEST(Plans, OfAFileThatIsLookedAtAreNotMade)
{
    const std::string text = "fail_open nobody may open it";
    const DnnTorchSource source = {.size = sizeof source,
                                   .name = "script",
                                   .fd = -1,
                                   .data = text.data(),
                                   .data_size = text.size()};
    Model model(source, {{"inspect", "1"}});
    ASSERT_EQ(model.opened.status, DNN_TORCH_OK);
    EXPECT_EQ(model.metadata("format"), "script");
    EXPECT_EQ(model.metadata("refused"), "nobody may open it");
    expect_failure(model.tune(usual_shape), DNN_TORCH_BAD_MODEL, {"looked at"});
    expect_failure(Model(source, {{"nosuch", "1"}}).opened, DNN_TORCH_BAD_OPTION, {"'nosuch'"});
}

TEST(Plans, AreMadeBesideRuns)
{
    Scripted scripted("latency_us 1000");
    std::thread running([&] {
        for (int i = 0; i < 50; i++)
            EXPECT_EQ(run(scripted, {1}).status, DNN_TORCH_OK);
    });
    Model &model = scripted.model;
    for (int i = 0; i < 50; i++) {
        const DnnTorchTensor in = tensor_of(usual_shape);
        DnnTorchMessage message = {};
        const DnnTorchPlanParameters parameters = {
            .size = sizeof parameters, .budget_seconds = 0, .samples = nullptr};
        DnnTorchPlan *plan = nullptr;
        EXPECT_EQ(engine().plan_make(model.get(), &in, 1, &parameters, &plan, &message),
                  DNN_TORCH_OK);
        engine().plan_close(&plan);
    }
    running.join();
}

TEST(Sessions, AreReset)
{
    Scripted scripted("each_run 1");
    const auto first_sample = [&] {
        EXPECT_EQ(run(scripted, {0}).status, DNN_TORCH_OK);
        return sample(scripted.session->output, 0, 0, 0, 0);
    };
    EXPECT_EQ(first_sample(), 0.0F);
    EXPECT_EQ(first_sample(), 1.0F);
    EXPECT_EQ(scripted.session->reset().status, DNN_TORCH_OK);
    EXPECT_EQ(first_sample(), 0.0F);
}

// ---- all tensors ------------------------------------------------------------------

// A session of a script whose tensors all come back, and what it gave last.
class AllTensors
{
public:
    explicit AllTensors(const std::string &script)
        : script_(script), model_(source_of(script_), {{"results", "tensors"}})
    {
        if (model_.get())
            session_ = std::make_unique<Session>(model_);
    }

    Outcome run(size_t capacity = 64)
    {
        if (!session_)
            return model_.opened;
        const auto pictures = numbered({7});
        const DnnTorchTensor in = tensor_of(pictures->view);
        DnnTorchMessage message = {};
        DnnTorchRun report = {.size = sizeof report};
        all.assign(capacity, {.size = sizeof(DnnTorchTensor), .type = 99});
        return outcome(engine().session_run(session_->get(), &in, 1, all.data(), all.size(),
                                            &report, &message),
                       message);
    }

    Outcome probe(size_t capacity = 64)
    {
        const DnnTorchTensor in = tensor_of(Shape{1, 3, 4, 6});
        DnnTorchMessage message = {};
        all.assign(capacity, {.size = sizeof(DnnTorchTensor)});
        return outcome(engine().model_probe(model_.get(), &in, 1, all.data(), all.size(), &message),
                       message);
    }

    std::vector<DnnTorchTensor> all;

private:
    static DnnTorchSource source_of(const std::string &script)
    {
        return {.size = sizeof(DnnTorchSource),
                .name = "a script",
                .fd = -1,
                .data = script.data(),
                .data_size = script.size()};
    }

    const std::string script_;
    Model model_;
    std::unique_ptr<Session> session_;
};

std::vector<int64_t> dims_of(const DnnTorchTensor &tensor)
{
    return {tensor.dims, tensor.dims + tensor.rank};
}

const char detections[] = "tensor 1.0.boxes f32 2x4 1 2 3 4 -5.5\n"
                          "tensor 1.0.labels i64 2 7 1099511627776\n"
                          "tensor none f32 0x4\n"
                          "tensor - f32 - nan\n";

TEST(AllTensors, AreThoseOfTheScript)
{
    AllTensors tensors(detections);
    for (int i = 0; i < 2; i++) {
        const Outcome result = tensors.run();
        ASSERT_EQ(result.status, DNN_TORCH_OK) << result.message;
        EXPECT_STREQ(tensors.all[0].name, "1.0.boxes");
        EXPECT_EQ(tensors.all[0].type, DNN_TORCH_F32);
        EXPECT_EQ(dims_of(tensors.all[0]), (std::vector<int64_t>{2, 4}));
        EXPECT_EQ(tensors.all[0].strides[0], 16);
        EXPECT_EQ(static_cast<float *>(tensors.all[0].data)[4], -5.5F);
        EXPECT_EQ(static_cast<float *>(tensors.all[0].data)[5], 1.0F);
        EXPECT_EQ(tensors.all[1].type, DNN_TORCH_I64);
        EXPECT_EQ(static_cast<int64_t *>(tensors.all[1].data)[1], 1099511627776);
        EXPECT_EQ(dims_of(tensors.all[2]), (std::vector<int64_t>{0, 4}));
        EXPECT_NE(tensors.all[2].data, nullptr);
        EXPECT_STREQ(tensors.all[3].name, "");
        EXPECT_EQ(tensors.all[3].rank, 0);
        EXPECT_TRUE(std::isnan(*static_cast<float *>(tensors.all[3].data)));
        for (size_t j = 4; j < tensors.all.size(); j++)
            EXPECT_EQ(tensors.all[j].type, 0) << j;
    }
}

TEST(AllTensors, AreProbed)
{
    AllTensors tensors(detections);
    ASSERT_EQ(tensors.probe().status, DNN_TORCH_OK);
    EXPECT_STREQ(tensors.all[1].name, "1.0.labels");
    EXPECT_EQ(dims_of(tensors.all[2]), (std::vector<int64_t>{0, 4}));
    EXPECT_EQ(tensors.all[0].data, nullptr);
    EXPECT_EQ(tensors.all[4].type, 0);
}

TEST(AllTensors, AreThePictureWithoutAny)
{
    AllTensors tensors("scale 2");
    ASSERT_EQ(tensors.run().status, DNN_TORCH_OK);
    EXPECT_EQ(dims_of(tensors.all[0]), (std::vector<int64_t>{1, 3, 8, 12}));
    EXPECT_EQ(tensors.all[1].type, 0);
}

TEST(AllTensors, MayAllBeEmpty)
{
    AllTensors tensors("tensor boxes f32 0x4\ntensor labels i64 0\n");
    ASSERT_EQ(tensors.run().status, DNN_TORCH_OK);
    EXPECT_EQ(tensors.all[0].strides[0], 16);
    EXPECT_NE(tensors.all[1].data, nullptr);
    EXPECT_EQ(tensors.all[2].type, 0);
}

TEST(AllTensors, AreNoMoreThanTheCallerTakes)
{
    AllTensors tensors(detections);
    expect_failure(tensors.run(3), DNN_TORCH_BAD_OUTPUT, {"4 tensors", "at most 3"});
    EXPECT_EQ(tensors.run(4).status, DNN_TORCH_OK);
    std::string many;
    for (int i = 0; i < 64; i++)
        many += "tensor " + std::to_string(i) + " i64 - " + std::to_string(i) + "\n";
    AllTensors all(many);
    ASSERT_EQ(all.run().status, DNN_TORCH_OK);
    EXPECT_STREQ(all.all[63].name, "63");
    EXPECT_EQ(*static_cast<int64_t *>(all.all[63].data), 63);
    EXPECT_EQ(AllTensors(many + "tensor one i64 -").run().status, DNN_TORCH_BAD_OUTPUT);
}

TEST(AllTensors, OfBadLinesAreRefused)
{
    for (const char *line :
         {"tensor a", "tensor a f64 2", "tensor a f32 -2", "tensor a f32 2xx", "tensor a i64 2 1.5",
          "tensor a f32 1x1x1x1x1x1x1x1x1", "tensor a f32 999999999999x999999999999"})
        expect_failure(AllTensors(line).run(), DNN_TORCH_BAD_MODEL, {"line 1"});
}

TEST(Abi, AsTheEnvironmentSays)
{
    void *library = dlopen(engine_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    auto *entry =
        reinterpret_cast<DnnTorchEngineFunction *>(dlsym(library, DNN_TORCH_ENGINE_SYMBOL));
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI), &engine());
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI + 1), nullptr);
    setenv("FAKE_ENGINE_ABI", "none", 1);
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI), nullptr);
    setenv("FAKE_ENGINE_ABI", "77", 1);
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI)->abi, 77U);
    unsetenv("FAKE_ENGINE_ABI");
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI), &engine());
    dlclose(library);
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: %s ENGINE [NAME]\n", argv[0]);
        return 1;
    }
    if (argc == 3)
        further_options() = {{"engine", argv[2]}};
    engine_path = argv[1];
    engine(engine_path);
    return RUN_ALL_TESTS();
}
