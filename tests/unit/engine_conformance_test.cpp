// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What engine.h asks of every engine:
// engine_conformance_test ENGINE MODEL
// engine_conformance_test ENGINE-ISOLATED MODEL NAME
// MODEL takes pictures of three channels, of any size, and returns them in the same size; each
// result depends on its picture alone.
#include "engine_under_test.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/mman.h>
#include <thread>

namespace
{

std::string engine_path, model_path;

std::vector<float> run(Session &session, const Pictures &pictures)
{
    const Outcome result = session.run(pictures);
    EXPECT_EQ(result.status, DNN_TORCH_OK) << result.message;
    return result.status == DNN_TORCH_OK ? samples_of(session.output) : std::vector<float>();
}

// What a session returns that does nothing else.
std::vector<float> result_of(const Pictures &pictures)
{
    static Model model(options_for(model_path));
    Session session(model);
    return run(session, pictures);
}

// One that an earlier result cannot be taken for.
std::unique_ptr<Pictures> darker(int height = 16, int width = 24)
{
    auto pictures = std::make_unique<Pictures>(1, 3, height, width);
    for (float &sample : pictures->samples)
        sample /= 2;
    return pictures;
}

std::vector<char> bytes_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

DnnTorchSource source_of(const std::vector<char> &bytes)
{
    return {.size = sizeof(DnnTorchSource),
            .name = "bytes",
            .fd = -1,
            .data = bytes.data(),
            .data_size = bytes.size()};
}

size_t entries(const char *folder)
{
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// ---- the table

TEST(Table, IsWhole)
{
    const DnnTorchEngine *const it = &engine();
    EXPECT_EQ(it->abi, DNN_TORCH_ENGINE_ABI);
    EXPECT_GE(it->size, sizeof *it);
    EXPECT_GT(strlen(it->name), 0U);
    EXPECT_GT(strlen(it->version), 0U);
    const char *table = reinterpret_cast<const char *>(&it->model_open);
    for (; table < reinterpret_cast<const char *>(it + 1); table += sizeof(void *)) {
        void *function = nullptr;
        std::memcpy(&function, table, sizeof function);
        EXPECT_NE(function, nullptr);
    }
}

TEST(Table, IsForHostsOfItsAbiAlone)
{
    void *library = dlopen(engine_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    auto *entry =
        reinterpret_cast<DnnTorchEngineFunction *>(dlsym(library, DNN_TORCH_ENGINE_SYMBOL));
    EXPECT_EQ(entry(DNN_TORCH_ENGINE_ABI), &engine());
    for (const uint32_t abi : {0U, DNN_TORCH_ENGINE_ABI - 1, DNN_TORCH_ENGINE_ABI + 1})
        EXPECT_EQ(entry(abi), nullptr) << abi;
    dlclose(library);
}

TEST(Table, ClosesNothing)
{
    DnnTorchModel *model = nullptr;
    engine().model_close(&model);
    DnnTorchPlan *plan = nullptr;
    engine().plan_close(&plan);
    DnnTorchSession *session = nullptr;
    engine().session_close(&session);
}

TEST(Devices, AreAtLeastTheProcessor)
{
    if (!further_options().empty())
        GTEST_SKIP() << "the engine in the other process lists them";
    const size_t count = engine().list_devices(nullptr, 0);
    std::vector<DnnTorchDevice> devices(count, DnnTorchDevice{.size = sizeof devices[0]});
    ASSERT_EQ(engine().list_devices(devices.data(), count), count);
    const auto is_cpu = [](const DnnTorchDevice &device) {
        return std::string(device.name) == "cpu" && device.state == DNN_TORCH_DEVICE_USABLE;
    };
    EXPECT_TRUE(std::any_of(devices.begin(), devices.end(), is_cpu));
}

// ---- opening

TEST(Opening, NamesUnknownOptions)
{
    const std::vector<char> bytes = bytes_of(model_path);
    const Model unknown(source_of(bytes), {{"no_such_option", "1"}});
    expect_failure(unknown.opened, DNN_TORCH_BAD_OPTION, {"no_such_option"});
}

TEST(Opening, TakesEmptyValuesForTheDefault)
{
    const std::vector<char> bytes = bytes_of(model_path);
    Model model(source_of(bytes),
                {{"device", ""}, {"input", nullptr}, {"precision", ""}, {"optimize", ""}});
    ASSERT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
    Session session(model);
    const Pictures pictures(1, 3, 16, 24);
    EXPECT_EQ(run(session, pictures), result_of(pictures));
}

TEST(Opening, NamesUnknownDevices)
{
    Options options = options_for(model_path);
    options.device = "toaster";
    EXPECT_NE(Model(options).opened.message.find("toaster"), std::string::npos);
}

// By an opened file, whose position stays, or by bytes.
TEST(Opening, ReadsWhatItIsGiven)
{
    const Pictures pictures(1, 3, 16, 24);
    const int fd = open(model_path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(lseek(fd, 5, SEEK_SET), 0);
    const DnnTorchSource source = {
        .size = sizeof source, .name = "/no/such/file", .fd = fd, .data = nullptr, .data_size = 0};
    Model model(source, {});
    EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5);
    close(fd);
    ASSERT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
    Session session(model);
    EXPECT_EQ(run(session, pictures), result_of(pictures));

    std::vector<char> bytes = bytes_of(model_path);
    Model copied(source_of(bytes), {});
    std::fill(bytes.begin(), bytes.end(), 0);
    ASSERT_EQ(copied.opened.status, DNN_TORCH_OK) << copied.opened.message;
    Session of_copied(copied);
    EXPECT_EQ(run(of_copied, pictures), result_of(pictures));
}

TEST(Opening, RefusesWhatIsNoModel)
{
    for (const std::string text : {"\x7f"
                                   "ELF no model",
                                   "{\"no\": \"model\"}", "\x01\x02\xff\xfe"}) {
        const std::vector<char> bytes(text.begin(), text.end());
        EXPECT_EQ(Model(source_of(bytes), {}).opened.status, DNN_TORCH_BAD_MODEL) << text;
    }
}

TEST(Opening, TakesShorterStructs)
{
    const std::vector<char> bytes = bytes_of(model_path);
    DnnTorchSource source = source_of(bytes);
    source.size = offsetof(DnnTorchSource, sink);
    source.sink = 12345; // is not there
    EXPECT_EQ(Model(source, {}).opened.status, DNN_TORCH_OK);
}

// ---- what is told

TEST(Metadata, OfUnknownKeysIsNull)
{
    Model model(options_for(model_path));
    EXPECT_EQ(engine().model_metadata(model.get(), "no such key"), nullptr);
    EXPECT_EQ(engine().plan_metadata(model.plan(), "no such key"), nullptr);
}

TEST(Metadata, LivesAsLongAsTheModel)
{
    Model model(options_for(model_path));
    const char *format = engine().model_metadata(model.get(), "format");
    ASSERT_NE(format, nullptr);
    const std::string before = format;
    Session session(model);
    run(session, Pictures(1, 3, 16, 24));
    EXPECT_EQ(format, before);
}

TEST(Probe, TellsWhatARunReturns)
{
    Model model(options_for(model_path));
    for (const Shape &shape : {Shape{1, 3, 16, 24}, {2, 3, 7, 9}, {1, 3, 64, 32}}) {
        ASSERT_EQ(model.probe(shape).status, DNN_TORCH_OK);
        Session session(model);
        run(session, Pictures(shape.batch, shape.channels, shape.height, shape.width));
        EXPECT_EQ(model.probed.batch, session.output.batch);
        EXPECT_EQ(model.probed.channels, session.output.channels);
        EXPECT_EQ(model.probed.height, session.output.height);
        EXPECT_EQ(model.probed.width, session.output.width);
    }
}

TEST(Facts, FillNoMoreThanTheCallerHas)
{
    Model model(options_for(model_path));
    DnnTorchPlanFacts facts;
    std::memset(&facts, 0x5a, sizeof facts);
    facts.size = offsetof(DnnTorchPlanFacts, run_operations);
    engine().plan_facts(model.plan(), &facts);
    const auto *bytes = reinterpret_cast<const unsigned char *>(&facts);
    for (size_t i = offsetof(DnnTorchPlanFacts, run_operations); i < sizeof facts; i++)
        EXPECT_EQ(bytes[i], 0x5a) << i;
    EXPECT_EQ(facts.size, offsetof(DnnTorchPlanFacts, run_operations));
}

// ---- runs

// Samples that cannot be written to.
TEST(Runs, OnlyReadTheirInput)
{
    const Pictures pictures(1, 3, 16, 24);
    const size_t bytes = pictures.samples.size() * sizeof(float);
    void *const page =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    std::memcpy(page, pictures.samples.data(), bytes);
    ASSERT_EQ(mprotect(page, bytes, PROT_READ), 0);
    Images view = pictures.view;
    view.data = page;
    Model model(options_for(model_path));
    Session session(model);
    EXPECT_EQ(session.run(view).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(session.output), result_of(pictures));
    munmap(page, bytes);
}

TEST(Runs, GiveTheSameForEachLayout)
{
    Pictures pictures(2, 3, 9, 14);
    const std::vector<float> planar = result_of(pictures);
    pictures.interleave();
    EXPECT_EQ(result_of(pictures), planar);
}

TEST(Runs, TakeOtherSizesThanPlanned)
{
    Model model(options_for(model_path));
    Session session(model);
    for (const auto &[height, width] :
         std::array<std::pair<int, int>, 4>{std::pair(1, 1), {5, 3}, {40, 64}, {16, 24}}) {
        run(session, Pictures(1, 3, height, width));
        EXPECT_EQ(session.output.height, height);
        EXPECT_EQ(session.output.width, width);
    }
}

TEST(Runs, UseTheSessionsMemoryAsAnyOther)
{
    const Pictures pictures(1, 3, 16, 24);
    Model model(options_for(model_path));
    Session session(model);
    for (int i = 0; i < 3; i++) {
        void *const memory = session.memory(pictures.samples.size() * sizeof(float));
        if (!memory)
            GTEST_SKIP() << "any memory is as good";
        std::memcpy(memory, pictures.samples.data(), pictures.samples.size() * sizeof(float));
        Images view = pictures.view;
        view.data = memory;
        ASSERT_EQ(session.run(view).status, DNN_TORCH_OK);
        EXPECT_EQ(samples_of(session.output), result_of(pictures));
    }
}

// One after another gives what each gives by itself, also after a reset and after warming.
TEST(Runs, ForgetEachOther)
{
    const Pictures bright(1, 3, 16, 24);
    const auto dark = darker();
    const std::vector<float> of_bright = result_of(bright), of_dark = result_of(*dark);
    ASSERT_NE(of_bright, of_dark);
    Model model(options_for(model_path));
    Session session(model);
    session.warm();
    EXPECT_EQ(run(session, bright), of_bright);
    EXPECT_EQ(run(session, *dark), of_dark);
    EXPECT_EQ(session.reset().status, DNN_TORCH_OK);
    EXPECT_EQ(run(session, bright), of_bright);
}

TEST(Runs, LeaveOtherSessionsResults)
{
    const Pictures bright(1, 3, 16, 24);
    Model model(options_for(model_path));
    Session first(model), second(model);
    const std::vector<float> before = run(first, bright);
    run(second, *darker());
    EXPECT_EQ(samples_of(first.output), before);
}

TEST(Runs, OfNoSenseAreRefusedAndTheNextOneWorks)
{
    Model model(options_for(model_path));
    Session session(model);
    const Pictures pictures(1, 3, 16, 24);
    const DnnTorchTensor sound = tensor_of(pictures.view);
    DnnTorchTensor flat = sound, of_none = sound, typeless = sound;
    flat.rank = 1;
    of_none.dims[2] = -1;
    typeless.type = 77;
    for (const DnnTorchTensor &in : {flat, of_none, typeless}) {
        DnnTorchTensor out = {.size = sizeof out};
        DnnTorchRun report = {.size = sizeof report};
        DnnTorchMessage message = {};
        const int status = engine().session_run(session.get(), &in, 1, &out, 1, &report, &message);
        EXPECT_NE(outcome(status, message).status, DNN_TORCH_OK);
        EXPECT_EQ(out.data, nullptr);
        EXPECT_EQ(run(session, pictures), result_of(pictures));
    }
}

// ---- threads

TEST(Threads, RunSessionsAtOnce)
{
    const Pictures bright(1, 3, 40, 64);
    const auto dark = darker(40, 64);
    const std::vector<float> of_bright = result_of(bright), of_dark = result_of(*dark);
    Model model(options_for(model_path));
    model.tune(bright.shape());
    std::array<std::thread, 4> threads;
    std::array<bool, 4> is_right = {};
    for (size_t i = 0; i < threads.size(); i++)
        threads[i] = std::thread([&, i] {
            Session session(model);
            is_right[i] = true;
            for (int round = 0; round < 10; round++)
                is_right[i] &=
                    run(session, i % 2 ? bright : *dark) == (i % 2 ? of_bright : of_dark);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(is_right, (std::array<bool, 4>{true, true, true, true}));
}

TEST(Threads, MakePlansBesideRuns)
{
    Model model(options_for(model_path)), other(options_for(model_path));
    const Pictures pictures(1, 3, 16, 24);
    const std::vector<float> expected = result_of(pictures);
    Session session(model);
    std::thread planner([&other] {
        for (int i = 1; i < 6; i++)
            EXPECT_EQ(other.tune({1, 3, 8 * i, 16}).status, DNN_TORCH_OK);
    });
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(run(session, pictures), expected);
    planner.join();
}

TEST(Threads, StopFromAnyOfThem)
{
    Model model(options_for(model_path));
    Session session(model);
    const Pictures pictures(1, 3, 16, 24);
    run(session, pictures);
    std::thread([&session] { session.stop(); }).join();
    const auto start = std::chrono::steady_clock::now();
    const int status = session.run(pictures).status;
    EXPECT_TRUE(status == DNN_TORCH_STOPPED || status == DNN_TORCH_OK) << status;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    Session another(model);
    EXPECT_EQ(run(another, pictures), result_of(pictures));
}

// ---- the end

TEST(Ends, LeaveNoFileAndNoThread)
{
    const auto once = [] {
        Model model(options_for(model_path));
        Session first(model), second(model, 2);
        run(first, Pictures(1, 3, 16, 24));
        run(second, *darker());
        Model refused(source_of({'n', 'o'}), {});
    };
    once();
    const size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    for (int i = 0; i < 5; i++)
        once();
    const auto are_left = [&] {
        return entries("/proc/self/fd") > files || entries("/proc/self/task") > threads;
    };
    // What is closed may end a little later.
    for (int i = 0; i < 500 && are_left(); i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(are_left());
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: %s ENGINE MODEL [NAME]\n", argv[0]);
        return 1;
    }
    if (argc == 4)
        further_options() = {{"engine", argv[3]}};
    engine_path = argv[1];
    model_path = argv[2];
    engine(engine_path);
    return RUN_ALL_TESTS();
}
