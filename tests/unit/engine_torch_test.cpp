// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The LibTorch engine through its table, alone or in a process of its own:
// engine_torch_test ENGINE MODELS
// engine_torch_test ENGINE-ISOLATED MODELS NAME
// make_engine_models.py has filled the folder MODELS.
#include "engine_torch_models.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace
{

Outcome open_failure(const std::string &path)
{
    return Model(options_for(path)).opened;
}

Outcome run_failure(const std::string &name, const char *optimize = "1")
{
    Running running(name, optimize);
    return running.session.run(Pictures(2, 3, 10, 12));
}

// ---- the table ------------------------------------------------------------------

TEST(Table, NamesItself)
{
    EXPECT_EQ(engine().abi, DNN_TORCH_ENGINE_ABI);
    EXPECT_STREQ(engine().name, "LibTorch");
    EXPECT_GE(std::strlen(engine().version), 3U);
}

TEST(Table, ClosesWhatNeverOpened)
{
    DnnTorchModel *model = nullptr;
    DnnTorchPlan *plan = nullptr;
    DnnTorchSession *session = nullptr;
    engine().session_close(&session);
    engine().plan_close(&plan);
    engine().model_close(&model);
}

// ---- files ----------------------------------------------------------------------

TEST(Files, ThatCannotBeRead)
{
    expect_failure(open_failure(models_folder()), DNN_TORCH_NO_FILE, {"directory"});
    expect_failure(open_failure("/dev/null"), DNN_TORCH_NO_FILE, {"/dev/null", "regular"});
    expect_failure(open_failure(""), DNN_TORCH_BAD_OPTION, {"model="});
    expect_failure(Model(Options{}).opened, DNN_TORCH_BAD_OPTION, {"model="});
}

TEST(Files, NamedPipeDoesNotBlock)
{
    const std::string path = testing::TempDir() + "pipe.pt";
    unlink(path.c_str());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    expect_failure(open_failure(path), DNN_TORCH_NO_FILE, {"regular"});
    unlink(path.c_str());
}

struct BadFile {
    const char *name;
    std::vector<std::string> parts;
};

class BadFiles : public testing::TestWithParam<BadFile>
{
};

TEST_P(BadFiles, AreToldApart)
{
    std::vector<std::string> parts = GetParam().parts;
    parts.push_back(path_of(GetParam().name));
    expect_failure(open_failure(path_of(GetParam().name)), DNN_TORCH_BAD_MODEL, parts);
}

const BadFile bad_files[] = {
    {"file_empty", {"is empty"}},
    {"file_truncated", {"cut short"}},
    {"file_without_end", {"cut short"}},
    {"file_text", {"no TorchScript", "torch.jit.trace"}},
    {"file_png", {"no TorchScript", "torch.jit.trace"}},
    {"file_pickle", {"no checkpoint of torch.save()", "torch.jit.trace"}},
    {"file_zip", {"zip archive", "torch.jit.trace"}},
    {"file_exported", {"damaged torch.export", "download it again"}},
    {"file_safetensors", {"not known here", "(weight 1)", "torch.jit.trace"}},
    {"file_state_dict", {"not known here", "torch.jit.trace"}},
    {"file_pickled_module", {"whole module", "not known here", "torch.jit.trace(torch.load("}},
    {"file_old_checkpoint", {"not known here", "torch.jit.trace"}},
    {"file_newer", {"newer PyTorch", "LibTorch"}},
    {"file_unknown_op", {"aten::nosuch", "LibTorch"}},
    {"file_bad_code", {"cannot be loaded"}},
    {"two_inputs", {"2 inputs", "x, sigma"}},
    {"no_input", {"without input"}},
    {"no_forward", {"no forward()"}},
    {"writes_file", {"aten::save"}},
    {"reads_file", {"aten::from_file"}},
    {"writes_inside", {"aten::save"}},
    {"forks_writer", {"aten::save"}},
    {"writes_while_loading", {"runs code while it is loaded", "allow=__setstate__"}},
    {"loading_joined", {"code that PyTorch does not write", "torch.jit.save"}},
    {"loading_escaped", {"code that PyTorch does not write", "torch by itself"}},
    {"loading_spaced", {"runs code while it is loaded"}},
    {"harmless_while_loading", {"runs code while it is loaded"}},
    {"loading_commented", {"code that PyTorch does not write", "comment"}},
};

INSTANTIATE_TEST_SUITE_P(All, BadFiles, testing::ValuesIn(bad_files),
                         [](const auto &tested) { return std::string(tested.param.name); });

TEST(Files, CutAnywhere)
{
    std::ifstream file(path_of("net_relu"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    const std::string path = testing::TempDir() + "cut.pt";
    for (size_t size = 0; size < whole.size(); size += 1 + size / 8) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(whole.data(), static_cast<long>(size));
        expect_failure(open_failure(path), DNN_TORCH_BAD_MODEL, {"cut.pt"});
    }
    unlink(path.c_str());
}

TEST(Files, DamagedAnywhere)
{
    std::ifstream file(path_of("net_relu"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    const std::string path = testing::TempDir() + "damaged.pt";
    for (size_t at = 0; at < whole.size(); at += 61) {
        std::string damaged = whole;
        for (size_t i = at; i < std::min(at + 7, whole.size()); i++)
            damaged[i] = static_cast<char>(~damaged[i]);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
        Model(options_for(path, "0")); // any outcome but a crash
    }
    unlink(path.c_str());
}

TEST(Files, NothingWasWritten)
{
    for (const char *name : {"writes_file", "writes_inside", "forks_writer", "writes_while_loading",
                             "loading_joined", "loading_escaped", "loading_spaced"})
        open_failure(path_of(name));
    EXPECT_NE(access("written-by-the-model", F_OK), 0);
}

TEST(Files, CodeMayRunWhileLoadingIfItIsAllowed)
{
    const std::string path = path_of("harmless_while_loading");
    Options options = options_for(path);
    options.allow = "__setstate__";
    Model model(options);
    ASSERT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
    Session session(model);
    const Pictures pictures(1, 3, 4, 4);
    EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(session.output), times(pictures.samples, 2));
}

// ---- options --------------------------------------------------------------------

Outcome open_on(const char *device)
{
    const std::string path = path_of("double");
    Options options = options_for(path);
    options.device = device;
    return Model(options).opened;
}

TEST(Options, Device)
{
    for (const char *device : {static_cast<const char *>(nullptr), "", "cpu"})
        EXPECT_EQ(open_on(device).status, DNN_TORCH_OK);
    for (const char *device : {"cuda", "cuda:0", "CPU", "nosuch", ":", "cpu:x", "&&", "\n"})
        expect_failure(open_on(device), DNN_TORCH_NO_DEVICE, {"device", "cpu"});
    expect_failure(open_on("cuda:97"), DNN_TORCH_NO_DEVICE, {"cuda:97"});
}

TEST(Options, Threads)
{
    const std::string path = path_of("net_relu");
    Model model(options_for(path));
    expect_failure(Session(model, 0).opened, DNN_TORCH_BAD_OPTION, {"threads"});
    Session session(model, 2);
    EXPECT_EQ(session.run(Pictures(1, 3, 40, 40)).status, DNN_TORCH_OK);
}

TEST(Options, InputByName)
{
    const std::string path = path_of("second_input");
    Options options = options_for(path);
    options.input_name = "image";
    Model model(options);
    expect_failure(model.opened, DNN_TORCH_OK, {});
    Session session(model);
    const Pictures pictures(1, 3, 4, 4);
    EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(session.output), times(pictures.samples, 2));
    EXPECT_EQ(model.notice(), "");
}

TEST(Metadata, OfNoKeyThereIsNone)
{
    Running running("double");
    EXPECT_EQ(engine().model_metadata(running.model.get(), nullptr), nullptr);
    EXPECT_EQ(engine().plan_metadata(running.model.plan(), nullptr), nullptr);
}

TEST(Options, WithoutANameTheFirstInputIsMeant)
{
    expect_failure(run_failure("second_input"), DNN_TORCH_RUN_FAILED, {"no image"});
}

TEST(Options, UnknownInputIsIgnoredAloud)
{
    const std::string path = path_of("double");
    Options options = options_for(path);
    options.input_name = "nosuch";
    Model model(options);
    EXPECT_EQ(model.opened.status, DNN_TORCH_OK);
    EXPECT_NE(model.notice().find("nosuch"), std::string::npos);
}

// ---- input ----------------------------------------------------------------------

TEST(Options, OutputOfASingleTensorIsIgnoredAloud)
{
    const std::string path = path_of("double");
    Options options = options_for(path);
    options.output_name = "nosuch";
    EXPECT_NE(Model(options).notice().find("output=nosuch is ignored"), std::string::npos);
    options.output_name = "";
    EXPECT_EQ(Model(options).notice(), "");
}

TEST(Input, IsChecked)
{
    Running running("double");
    Pictures pictures(2, 3, 4, 5);
    const auto expect_refused = [&](auto change) {
        Images view = pictures.view;
        change(view);
        expect_failure(running.session.run(view), DNN_TORCH_BAD_INPUT, {"input"});
    };
    expect_refused([](Images &view) { view.data = nullptr; });
    expect_refused([](Images &view) { view.element = DNN_TORCH_U8; });
    expect_refused([](Images &view) { view.batch = 0; });
    expect_refused([](Images &view) { view.channels = -1; });
    expect_refused([](Images &view) { view.height = 0; });
    expect_refused([](Images &view) { view.width = 0; });
    expect_refused([](Images &view) { view.column_stride = 8; });
    expect_refused([](Images &view) { view.row_stride += 4; });
    expect_refused([](Images &view) { view.channel_stride += 4; });
    expect_refused([](Images &view) { view.batch_stride += 4; });
    EXPECT_EQ(running.session.run(pictures).status, DNN_TORCH_OK);
}

// LibTorch would end the process.
TEST(Input, IsNotLargerThanAnyMemory)
{
    constexpr int32_t huge = std::numeric_limits<int32_t>::max();
    Running running("double");
    Pictures pictures(1, 1, 1, 1);
    pictures.view.height = pictures.view.width = huge;
    pictures.view.row_stride = int64_t{huge} * pictures.view.column_stride;
    expect_failure(running.session.run(pictures.view), DNN_TORCH_BAD_INPUT, {"too large"});
    expect_failure(running.model.probe({1, 3, huge, huge}), DNN_TORCH_BAD_INPUT, {"too large"});
    expect_failure(running.model.tune({huge, 1, 1, huge}), DNN_TORCH_BAD_INPUT, {"too large"});
    expect_failure(running.model.probe({huge, huge, huge, huge}), DNN_TORCH_BAD_INPUT,
                   {"too large"});
}

TEST(Input, StridesOfSingleExtentsDoNotMatter)
{
    Running running("double");
    Pictures pictures(1, 1, 1, 1);
    pictures.view.batch_stride = pictures.view.row_stride = -99;
    EXPECT_EQ(running.session.run(pictures).status, DNN_TORCH_OK);
}

TEST(Input, IsNeverWrittenTo)
{
    for (const char *optimize : {"0", "1"}) {
        for (const char *name : {"writes_input", "writes_input_view"}) {
            Running running(name, optimize);
            const Pictures pictures(1, 3, 6, 6);
            run(running, pictures); // run() compares
            EXPECT_EQ(running.model.notice(), "");
        }
    }
}

// ---- output ---------------------------------------------------------------------

TEST(Output, Exact)
{
    for (const char *optimize : {"0", "1"})
        for (const char *name : {"double", "dict_one", "tuple_two", "list_two", "default_argument",
                                 "as_half", "as_double", "mkldnn", "writes_input"}) {
            Running running(name, optimize);
            const Pictures pictures(2, 3, 5, 7);
            const float tolerance = std::string(name) == "as_half" ? 1e-3F : 0;
            EXPECT_LE(difference(run(running, pictures), times(pictures.samples, 2)), tolerance)
                << name;
        }
}

// The numbers are what they are: what white is, the contract says.
TEST(Output, OfWholeNumbers)
{
    const Pictures pictures(2, 3, 5, 7);
    std::vector<float> whole, truth;
    for (const float sample : pictures.samples) {
        whole.push_back(std::floor(sample * 2));
        truth.push_back(sample > 0 ? 1.0F : 0.0F);
    }
    for (const char *optimize : {"0", "1"}) {
        for (const char *name : {"as_uint8", "as_int64"}) {
            Running running(name, optimize);
            EXPECT_EQ(difference(run(running, pictures), whole), 0) << name;
        }
        Running running("as_bool", optimize);
        EXPECT_EQ(difference(run(running, pictures), truth), 0);
    }
}

// A batch runs one by one.
TEST(Output, WithoutBatch)
{
    const Pictures pictures(2, 3, 10, 12);
    for (const char *optimize : {"0", "1"}) {
        Running running("rank3", optimize);
        EXPECT_EQ(difference(run(running, pictures), pictures.samples), 0);
    }
}

TEST(Output, Bfloat16)
{
    Running running("as_bfloat16");
    const Pictures pictures(1, 3, 5, 7);
    EXPECT_LT(difference(run(running, pictures), times(pictures.samples, 2)), 0.01F);
}

TEST(Output, Strides)
{
    const Pictures pictures(2, 3, 6, 8);
    Running contiguous("flatten"), last("channels_last"), transposed("transposed"),
        expanded("expanded"), cropped("cropped");
    EXPECT_EQ(run(contiguous, pictures), pictures.samples);
    EXPECT_EQ(run(last, pictures), pictures.samples);
    EXPECT_EQ(last.session.output.channel_stride, 4);
    run(transposed, pictures);
    EXPECT_EQ(transposed.session.output.width, 6);
    EXPECT_EQ(transposed.session.output.height, 8);
    EXPECT_EQ(sample(transposed.session.output, 1, 2, 7, 3), sample(pictures.view, 1, 2, 3, 7));
    run(expanded, pictures);
    EXPECT_EQ(sample(expanded.session.output, 1, 2, 5, 7), sample(pictures.view, 1, 2, 0, 0));
    run(cropped, pictures);
    EXPECT_EQ(cropped.session.output.height, 5);
    EXPECT_EQ(cropped.session.output.width, 4);
    EXPECT_EQ(sample(cropped.session.output, 1, 2, 4, 3), sample(pictures.view, 1, 2, 5, 6));
}

TEST(Output, OutlivesTheInput)
{
    Running running("identity");
    auto pictures = std::make_unique<Pictures>(1, 3, 5, 5);
    const std::vector<float> wanted = pictures->samples;
    ASSERT_EQ(running.session.run(*pictures).status, DNN_TORCH_OK);
    std::fill(pictures->samples.begin(), pictures->samples.end(), -1.0F);
    pictures.reset();
    EXPECT_EQ(samples_of(running.session.output), wanted);
}

Outcome run_with_output(const char *model_name, const char *output_name,
                        std::vector<float> &samples)
{
    const std::string path = path_of(model_name);
    Options options = options_for(path);
    options.output_name = output_name;
    Model model(options);
    Session session(model);
    const Outcome result = session.run(Pictures(1, 3, 4, 4));
    if (result.status == DNN_TORCH_OK)
        samples = samples_of(session.output);
    return result;
}

TEST(Output, ByName)
{
    const std::vector<float> in = Pictures(1, 3, 4, 4).samples;
    std::vector<float> out;
    const auto expect_factor = [&](const char *model, const char *output, float factor) {
        EXPECT_EQ(run_with_output(model, output, out).status, DNN_TORCH_OK) << model;
        EXPECT_EQ(out, times(in, factor)) << model << " " << output;
    };
    expect_factor("dict_two", "image", 2);
    expect_factor("dict_two", "mask", 3);
    expect_factor("tuple_two", "", 2);
    expect_factor("tuple_two", "2", 3);
    expect_factor("list_two", "1", 3);
    expect_factor("dict_one", "image", 2);
    expect_factor("double", "nosuch", 2); // told by a notice
    expect_failure(run_with_output("dict_one", "nosuch", out), DNN_TORCH_BAD_OUTPUT,
                   {"nosuch", "image"});
    expect_failure(run_with_output("dict_two", nullptr, out), DNN_TORCH_BAD_OUTPUT,
                   {"output=", "image", "mask"});
    expect_failure(run_with_output("dict_two", "nosuch", out), DNN_TORCH_BAD_OUTPUT,
                   {"nosuch", "image", "mask"});
    expect_failure(run_with_output("tuple_two", "9", out), DNN_TORCH_BAD_OUTPUT, {"9", "1, 2"});
}

TEST(Output, ThatIsNoPicture)
{
    const BadFile outputs[] = {
        {"text", {"no tensor", "str"}},
        {"nothing", {"no tensor", "None"}},
        {"undefined", {"no tensor", "None"}},
        {"dict_none", {"no tensor", "dict"}},
        {"list_empty", {"no tensor", "list"}},
        {"more_batch", {"batch of 3", "batch of 2"}},
        {"empty", {"empty", "[2, 3, 0, 12]"}},
        {"as_complex", {"complex", "float32"}},
        {"sparse", {"sparse"}},
        {"quantized", {"quantised"}},
    };
    for (const char *optimize : {"0", "1"})
        for (const BadFile &output : outputs)
            expect_failure(run_failure(output.name, optimize), DNN_TORCH_BAD_OUTPUT, output.parts);
}

// ---- failing runs -----------------------------------------------------------------

TEST(Failures, InTheModelsOwnWords)
{
    for (const char *optimize : {"0", "1"}) {
        expect_failure(run_failure("raises", optimize), DNN_TORCH_RUN_FAILED,
                       {"ValueError: this model never works"});
        expect_failure(run_failure("raises_inside", optimize), DNN_TORCH_RUN_FAILED,
                       {"ValueError: this model never works"});
        expect_failure(run_failure("asserts", optimize), DNN_TORCH_WRONG_CHANNELS,
                       {"AssertionError: needs seven channels"});
        // It speaks of dimension 1, that of channels.
        expect_failure(run_failure("mismatch", optimize), DNN_TORCH_WRONG_CHANNELS,
                       {"Sizes of tensors must match", "Expected size 10 but got size 20"});
        expect_failure(run_failure("cuda", optimize), DNN_TORCH_RUN_FAILED, {"CUDA"});
    }
}

TEST(Failures, WrongChannels)
{
    for (const char *name : {"net_relu", "net_traced", "net_frozen"})
        for (const char *optimize : {"0", "1"}) {
            Running running(name, optimize);
            expect_failure(running.session.run(Pictures(1, 1, 8, 8)), DNN_TORCH_WRONG_CHANNELS,
                           {"to have 3 channels, but got 1"});
            EXPECT_EQ(running.session.run(Pictures(1, 3, 8, 8)).status, DNN_TORCH_OK);
            EXPECT_EQ(running.model.notice().find("failed"), std::string::npos);
        }
}

TEST(Failures, OutOfMemory)
{
    for (const char *optimize : {"0", "1"})
        expect_failure(run_failure("too_big", optimize), DNN_TORCH_OUT_OF_MEMORY,
                       {"GiB", "frame size", "batch_size", "workers"});
}

TEST(Failures, LeaveTheSessionUsable)
{
    Running running("fixed_size");
    expect_failure(running.session.run(Pictures(1, 3, 8, 8)), DNN_TORCH_RUN_FAILED, {"nine rows"});
    EXPECT_EQ(running.session.run(Pictures(1, 3, 9, 8)).status, DNN_TORCH_OK);
}

TEST(Failures, Stopped)
{
    Running running("double");
    EXPECT_EQ(running.session.run(Pictures(1, 3, 4, 4)).status, DNN_TORCH_OK);
    std::thread([&] { running.session.stop(); }).join();
    EXPECT_EQ(running.session.run(Pictures(1, 3, 4, 4)).status, DNN_TORCH_STOPPED);
    EXPECT_EQ(running.session.run(Pictures(1, 3, 4, 4)).status, DNN_TORCH_STOPPED);
    Session another(running.model);
    EXPECT_EQ(another.run(Pictures(1, 3, 4, 4)).status, DNN_TORCH_OK);
}

// ---- optimising -------------------------------------------------------------------

const char *const nets[] = {"net_relu",   "net_relu6",   "net_hardswish", "net_hardsigmoid",
                            "net_leaky",  "net_prelu",   "net_silu",      "net_tanh",
                            "net_wide",   "net_squeeze", "net_upscaler",  "net_traced",
                            "net_frozen", "in_training"};

TEST(Optimised, SameResultsAtEverySize)
{
    const int sizes[][4] = {{1, 3, 64, 64}, {1, 3, 1, 1}, {1, 3, 2, 3},  {2, 3, 5, 7},
                            {3, 3, 33, 17}, {1, 3, 9, 1}, {1, 3, 64, 64}};
    for (const char *name : nets) {
        Running plain(name, "0"), optimised(name, "1");
        for (const auto &size : sizes) {
            const Pictures pictures(size[0], size[1], size[2], size[3]);
            EXPECT_LT(difference(run(plain, pictures), run(optimised, pictures)), 1e-4F)
                << name << " " << size[0] << "x" << size[2] << "x" << size[3];
        }
        EXPECT_EQ(plain.model.notice(), "");
        EXPECT_EQ(optimised.model.notice().find("failed"), std::string::npos) << name;
    }
}

TEST(Optimised, LowPrecision)
{
    Running plain("net_bfloat16", "0"), optimised("net_bfloat16", "1");
    const Pictures pictures(1, 3, 20, 20);
    EXPECT_LT(difference(run(plain, pictures), run(optimised, pictures)), 0.05F);
}

TEST(Optimised, ModelThatTakesNoTrialPictureRuns)
{
    Running running("fixed_size");
    EXPECT_NE(running.model.notice().find("trial"), std::string::npos);
    EXPECT_EQ(running.model.variant(), "as saved");
    const Pictures pictures(1, 3, 9, 5);
    EXPECT_EQ(run(running, pictures), times(pictures.samples, 2));
}

TEST(Optimised, RunsAgainBitByBit)
{
    Running running("net_upscaler");
    const Pictures pictures(1, 3, 40, 30);
    const std::vector<float> first = run(running, pictures);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(run(running, pictures), first);
}

// ---- several sessions ---------------------------------------------------------------

// First runs included: all threads begin together.
TEST(Sessions, AtOnce)
{
    for (const char *name : {"net_upscaler", "net_squeeze", "net_traced", "forks"})
        for (const char *optimize : {"0", "1"}) {
            const std::string path = path_of(name);
            Model model(options_for(path, optimize));
            model.tune(usual_shape);
            const Pictures pictures(1, 3, 24, 31);
            std::vector<std::vector<float>> results(8);
            std::vector<std::thread> threads;
            for (std::vector<float> &result : results)
                threads.emplace_back([&] {
                    Session session(model);
                    for (int i = 0; i < 6; i++) {
                        const Pictures other(1, 3, 8 + i, 9);
                        EXPECT_EQ(session.run(other).status, DNN_TORCH_OK);
                        EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
                    }
                    result = samples_of(session.output);
                });
            for (std::thread &thread : threads)
                thread.join();
            for (const std::vector<float> &result : results)
                EXPECT_EQ(result, results.front()) << name;
        }
}

TEST(Sessions, OpenedHereRunThere)
{
    Running running("net_relu");
    const Pictures pictures(1, 3, 16, 16);
    const std::vector<float> here = run(running, pictures);
    std::vector<float> there;
    std::thread([&] { there = run(running, pictures); }).join();
    EXPECT_EQ(here, there);
}

TEST(Sessions, OfModelsWithOtherThreads)
{
    const std::string path = path_of("net_wide");
    std::vector<std::thread> threads;
    std::vector<std::vector<float>> results(4);
    for (size_t i = 0; i < results.size(); i++)
        threads.emplace_back([&, i] {
            Model model(options_for(path));
            Session session(model, static_cast<int>(1 + i % 2));
            for (int n = 0; n < 10; n++)
                EXPECT_EQ(session.run(Pictures(1, 3, 50, 50)).status, DNN_TORCH_OK);
            results[i] = samples_of(session.output);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(results[0], results[2]);
    EXPECT_EQ(results[1], results[3]);
}

// ---- state ------------------------------------------------------------------------

TEST(State, IsNoticed)
{
    for (const char *optimize : {"0", "1"})
        for (const char *name : {"keeps_input", "counts", "returns_state", "appends"}) {
            Running running(name, optimize);
            EXPECT_NE(running.model.notice().find("remembers"), std::string::npos) << name;
        }
}

TEST(State, IsNotSeenWhereThereIsNone)
{
    for (const char *name : {"double", "writes_input", "in_training", "net_upscaler", "net_traced",
                             "net_frozen", "net_squeeze", "forks", "prints"})
        EXPECT_EQ(Running(name, "0").model.notice(), "") << name;
}

TEST(State, PictureIsKeptByValue)
{
    Running running("keeps_input");
    Pictures pictures(1, 3, 4, 4);
    EXPECT_EQ(run(running, pictures), pictures.samples);
    const std::vector<float> before = pictures.samples;
    std::fill(pictures.samples.begin(), pictures.samples.end(), 0.0F);
    EXPECT_EQ(run(running, pictures), before);
}

// Each session remembers its own runs: no other run of the model is one of them.
// Also where it lies in the code, of which all sessions run the same.
TEST(State, IsItsSessions)
{
    for (const char *name : {"counts", "state_constant"}) {
        Model model(options_for(path_of(name)));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&] {
                Session session(model);
                for (int n = 0; n < 25; n++) {
                    ASSERT_EQ(session.run(Pictures(1, 1, 2, 2)).status, DNN_TORCH_OK);
                    EXPECT_EQ(sample(session.output, 0, 0, 0, 0), static_cast<float>(n + 1))
                        << name;
                    EXPECT_EQ(model.probe({1, 1, 2, 2}).status, DNN_TORCH_OK);
                }
            });
        for (std::thread &thread : threads)
            thread.join();
    }
}

TEST(State, IsForgottenByAReset)
{
    for (const char *name : {"counts", "returns_state", "state_in_tensor", "state_constant"}) {
        Running running(name);
        const Pictures pictures(1, 1, 2, 2);
        const std::vector<float> first = run(running, pictures), second = run(running, pictures);
        EXPECT_NE(first, second) << name;
        EXPECT_EQ(running.session.reset().status, DNN_TORCH_OK);
        EXPECT_EQ(run(running, pictures), first) << name;
        EXPECT_EQ(run(running, pictures), second) << name;
    }
    Running stateless("net_relu");
    EXPECT_EQ(stateless.session.reset().status, DNN_TORCH_OK);
}

TEST(State, ViewHoldsWhileAnotherSessionRuns)
{
    Model model(options_for(path_of("returns_state")));
    Session first(model), second(model);
    ASSERT_EQ(first.run(Pictures(1, 1, 2, 2)).status, DNN_TORCH_OK);
    ASSERT_EQ(second.run(Pictures(1, 1, 2, 2)).status, DNN_TORCH_OK);
    ASSERT_EQ(second.run(Pictures(1, 1, 2, 2)).status, DNN_TORCH_OK);
    EXPECT_EQ(sample(first.output, 0, 0, 0, 0), 1.0F);
    EXPECT_EQ(sample(second.output, 0, 0, 0, 0), 2.0F);
}

// ---- plans ------------------------------------------------------------------------

// Measured on one thread while others run another plan of the same model.
TEST(Plans, AreMadeBesideRuns)
{
    Running running("net_upscaler", "channels_last");
    const Pictures pictures(1, 3, 24, 31);
    const std::vector<float> expected = run(running, pictures);
    const DnnTorchPlan *first = running.model.plan();
    std::atomic<bool> ended{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            DnnTorchMessage message = {};
            DnnTorchSession *session = nullptr;
            ASSERT_EQ(engine().session_open(first, 1, &session, &message), DNN_TORCH_OK);
            while (!ended) {
                const DnnTorchTensor in = tensor_of(pictures.view);
                DnnTorchTensor out = {.size = sizeof out};
                DnnTorchRun report = {.size = sizeof report};
                ASSERT_EQ(engine().session_run(session, &in, 1, &out, 1, &report, &message),
                          DNN_TORCH_OK);
                ASSERT_EQ(samples_of(images_of(out)), expected);
            }
            engine().session_close(&session);
        });
    for (const Shape &shape : {Shape{1, 3, 24, 31}, Shape{2, 3, 40, 40}, Shape{1, 3, 64, 96}})
        EXPECT_EQ(running.model.tune(shape, 0.1).status, DNN_TORCH_OK);
    ended = true;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_LT(difference(run(running, pictures), expected), 1e-4F);
}

// ---- structs and options -------------------------------------------------------------

TEST(Options, UnknownKeysAreNamed)
{
    const DnnTorchSource source = {.size = sizeof source, .name = "x.pt", .fd = -1};
    expect_failure(Model(source, {{"nosuch", "1"}}).opened, DNN_TORCH_BAD_OPTION,
                   {"'nosuch'", "precision"});
    expect_failure(Model(source, {{"inspect", "yes"}}).opened, DNN_TORCH_BAD_OPTION, {"inspect"});
}

TEST(Files, MayBeBytes)
{
    std::ifstream file(path_of("double"), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    DnnTorchSource source = {.size = sizeof source,
                             .name = "bytes",
                             .fd = -1,
                             .data = bytes.data(),
                             .data_size = bytes.size()};
    EXPECT_EQ(Model(source, {}).opened.status, DNN_TORCH_OK);
    source.data_size /= 2;
    expect_failure(Model(source, {}).opened, DNN_TORCH_BAD_MODEL, {"'bytes'", "cut short"});
}

// As from a host that was built when the structs were shorter.
TEST(Structs, MayBeShorter)
{
    Running running("double");
    const Pictures pictures(1, 3, 4, 4);
    DnnTorchTensor in = tensor_of(pictures.view), out = {.size = offsetof(DnnTorchTensor, white)};
    in.size = offsetof(DnnTorchTensor, white);
    in.white = out.white = -77;
    DnnTorchRun report = {.size = offsetof(DnnTorchRun, had_nan), .number = 0, .had_nan = 77};
    DnnTorchMessage message = {};
    ASSERT_EQ(engine().session_run(running.session.get(), &in, 1, &out, 1, &report, &message),
              DNN_TORCH_OK);
    EXPECT_EQ(samples_of(images_of(out)), times(pictures.samples, 2));
    EXPECT_EQ(report.had_nan, 77);
    EXPECT_EQ(out.white, -77);
    EXPECT_EQ(out.size, offsetof(DnnTorchTensor, white));
    in.size = 0;
    EXPECT_EQ(
        outcome(engine().session_run(running.session.get(), &in, 1, &out, 1, &report, &message),
                message)
            .status,
        DNN_TORCH_BAD_INPUT);
}

// ---- the rest of the program -----------------------------------------------------

TEST(Program, StandardOutputIsNotTheModels)
{
    Running running("prints");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    run(running, Pictures(1, 1, 2, 2));
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("a word from the model"),
              std::string::npos);
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: %s ENGINE MODELS [NAME]\n", argv[0]);
        return 1;
    }
    if (argc == 4)
        further_options() = {{"engine", argv[3]}};
    models_folder() = argv[2];
    setenv("DNN_TORCH_CACHE", "", 1);
    if (access(path_of("double").c_str(), R_OK) != 0) {
        std::fprintf(stderr, "there are no models in %s: python3-torch makes them\n", argv[2]);
        return 77;
    }
    engine(argv[1]);
    return RUN_ALL_TESTS();
}
