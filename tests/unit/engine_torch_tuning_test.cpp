// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The variants of a model, how one of them is chosen, and that this is remembered.
#include "engine_torch_models.h"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sched.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

namespace filesystem = std::filesystem;

const char *const nets[] = {"net_relu",   "net_relu6",  "net_hardswish", "net_hardsigmoid",
                            "net_leaky",  "net_prelu",  "net_silu",      "net_tanh",
                            "net_wide",   "net_halves", "net_squeeze",   "net_upscaler",
                            "net_traced", "net_frozen", "in_training",   "writes_input"};
const char *const pinned_variants[] = {"saved", "frozen", "channels_last", "inference"};

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

std::string variant_text(const std::string &precision, const std::string &variant)
{
    return variant == "saved" ? "as saved" : precision + ", " + variant;
}

double seconds_of(const auto &action)
{
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// How long the threads of this process have waited for cores that others had.
double waited_seconds()
{
    double sum = 0;
    for (const auto &task : filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "schedstat");
        double ran = 0, waited = 0;
        if (file >> ran >> waited)
            sum += waited * 1e-9;
    }
    return sum;
}

// For what a busy machine disturbs: one of five attempts holds, unless each was disturbed.
void expect_in_time(const std::function<bool()> &holds)
{
    bool was_undisturbed = false;
    for (int attempt = 0; attempt < 5; attempt++) {
        const double waited = waited_seconds();
        bool does_hold = false;
        const double took = seconds_of([&] { does_hold = holds(); });
        if (does_hold)
            return;
        was_undisturbed |= waited_seconds() - waited < 0.1 * took;
    }
    if (!was_undisturbed)
        GTEST_SKIP() << "other processes had the cores each time";
    FAIL();
}

// ---- variants ------------------------------------------------------------------------

// LibTorch versions rewrite some nets wrongly, which is then found out and logged.  What rewrites
// nothing is never refused.
TEST(Variants, PinnedGiveThePlainResults)
{
    const Pictures pictures(2, 3, 24, 40);
    for (const char *net : nets) {
        Running plain(net, "0");
        const std::vector<float> expected = run(plain, pictures);
        EXPECT_EQ(plain.model.variant(), "as saved");
        for (const std::string variant : pinned_variants) {
            Running pinned(net, variant.c_str());
            EXPECT_LT(difference(run(pinned, pictures), expected), 1e-4F) << net << ' ' << variant;
            const bool is_used = pinned.model.variant() == variant_text("fp32", variant);
            const bool is_refused =
                contains(pinned.model.notice(), "optimize=" + variant + " cannot be used");
            EXPECT_NE(is_used, is_refused)
                << net << ' ' << variant << ": " << pinned.model.variant();
            EXPECT_TRUE(is_used || variant != "saved") << net;
        }
    }
}

// A net of convolutions alone, which all LibTorch versions do right.
TEST(Variants, SimpleNetTakesAll)
{
    for (const char *variant : {"frozen", "channels_last", "inference"}) {
        Running pinned("net_relu", variant);
        EXPECT_EQ(pinned.model.variant(), std::string("fp32, ") + variant);
        EXPECT_EQ(pinned.model.tuning.interleaved, std::string(variant) == "channels_last");
        EXPECT_EQ(pinned.model.notice(), "");
    }
}

TEST(Variants, UnknownNamesAreRefused)
{
    const std::string path = path_of("double");
    for (const char *name : {"2", "-1", "fastest", "Frozen", "saved ", "\n"})
        expect_failure(Model(options_for(path, name)).opened, DNN_TORCH_BAD_OPTION,
                       {"optimize=", "0, 1", "saved", "frozen", "channels_last", "inference"});
    for (const char *name : {"int4", "float16", "BF16", "0"})
        expect_failure(Model(options_for(path, "1", name)).opened, DNN_TORCH_BAD_OPTION,
                       {"precision=", "auto", "fp32", "bf16", "fp16", "int8"});
}

TEST(Variants, TakeInterleavedPictures)
{
    const int sizes[][4] = {
        {1, 3, 16, 24}, {2, 3, 8, 16}, {1, 3, 8, 1}, {1, 3, 1, 8}, {1, 3, 1, 1}};
    for (const char *precision : {"fp32", "bf16"})
        for (const char *variant : pinned_variants)
            for (const auto &size : sizes) {
                Running running("net_upscaler", variant, precision);
                Pictures pictures(size[0], size[1], size[2], size[3]);
                const std::vector<float> planar = run(running, pictures);
                pictures.interleave();
                EXPECT_EQ(run(running, pictures), planar) << precision << ' ' << variant;
            }
}

TEST(Variants, OneChannelIsBothLayouts)
{
    Running running("double", "channels_last");
    running.model.tune({1, 1, 32, 32});
    EXPECT_EQ(running.model.tuning.interleaved, 0);
    Pictures pictures(2, 1, 5, 7);
    const std::vector<float> expected = times(pictures.samples, 2);
    EXPECT_EQ(run(running, pictures), expected);
    pictures.interleave();
    EXPECT_EQ(run(running, pictures), expected);
}

TEST(Variants, SameBytesOnManyThreads)
{
    for (const char *precision : {"fp32", "bf16"}) {
        Model model(options_for(path_of("net_upscaler"), "channels_last", precision));
        EXPECT_EQ(model.tune(usual_shape).status, DNN_TORCH_OK);
        const Pictures pictures(1, 3, 40, 56);
        std::vector<std::vector<float>> results(4);
        std::vector<std::thread> threads;
        for (std::vector<float> &result : results)
            threads.emplace_back([&] {
                Session session(model);
                for (int i = 0; i < 10; i++)
                    EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
                result = samples_of(session.output);
            });
        for (std::thread &thread : threads)
            thread.join();
        for (const std::vector<float> &result : results)
            EXPECT_EQ(result, results.front());
    }
}

// As where a program has several filters with one model.  Each plan makes copies of the model,
// whose types LibTorch keeps in one table.
TEST(Variants, PlansMadeAtOnce)
{
    Model model(options_for(path_of("net_upscaler"), "inference"));
    const auto make_plans = [&model](int first_height) {
        for (int height = first_height; height < first_height + 150; height++) {
            const DnnTorchTensor in = tensor_of({1, 3, height, 48});
            const DnnTorchPlanParameters parameters = {.size = sizeof parameters};
            DnnTorchMessage message = {};
            DnnTorchPlan *plan = nullptr;
            EXPECT_EQ(engine().plan_make(model.get(), &in, 1, &parameters, &plan, &message),
                      DNN_TORCH_OK);
            engine().plan_close(&plan);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(make_plans, 32 + 200 * i);
    for (std::thread &thread : threads)
        thread.join();
}

// Other numbers with more threads would be a surprise in int8, which LibTorch's variants lack.
TEST(Variants, OfSeveralThreadsAreTold)
{
    const auto threaded = [](const char *variant, const char *precision) {
        const Running running("net_upscaler", variant, precision);
        return running.model.threaded_variant();
    };
    for (const char *variant : pinned_variants)
        EXPECT_EQ(threaded(variant, "fp32"), "") << variant;
    const Running fused("net_upscaler", "fused");
    if (contains(fused.model.notice(), "built without oneDNN"))
        GTEST_SKIP() << fused.model.notice();
    EXPECT_EQ(fused.model.variant(), "fp32, fused");
    EXPECT_EQ(fused.model.threaded_variant(), "fp32, frozen (fused programs use one thread)");
    EXPECT_EQ(fused.model.options_of_variant(), "fp32, fused, frozen");
    EXPECT_EQ(Running("net_upscaler", "0").model.options_of_variant(), "fp32, saved, ");
    EXPECT_EQ(threaded("fused", "int8"), "");
}

// ---- weights ------------------------------------------------------------------------

// A model that is opened with that option.
struct WithWeights {
    explicit WithWeights(const char *weights, const char *optimize = "1")
        : file(open(path.c_str(), O_RDONLY)),
          model({.size = sizeof(DnnTorchSource), .name = path.c_str(), .fd = file},
                {{"optimize", optimize}, {"weights", weights}})
    {
    }
    ~WithWeights() { close(file); }
    const std::string path = path_of("net_upscaler");
    const int file;
    Model model;
};

// This machine has maybe one node; fused_network_test.cpp pretends several.
TEST(Weights, OnEachNode)
{
    const Pictures pictures(1, 3, 40, 48);
    const auto result_of = [&](WithWeights &net) {
        Session session(net.model);
        EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
        return samples_of(session.output);
    };
    WithWeights shared("shared", "fused"), own("node", "fused"), other("node", "frozen");
    EXPECT_EQ(result_of(own), result_of(shared));
    result_of(other);
    const std::string told = "weights=node is for fused programs";
    EXPECT_TRUE(contains(other.model.notice(), told)) << other.model.notice();
    EXPECT_FALSE(contains(shared.model.notice(), told)) << shared.model.notice();
    EXPECT_EQ(contains(own.model.notice(), told), own.model.variant() != "fp32, fused");
    // Nobody asked for that plan's variant.
    WithWeights measured("node", "fused");
    const DnnTorchTensor shape = tensor_of(pictures.shape());
    const DnnTorchPlanParameters parameters = {
        .size = sizeof parameters, .budget_seconds = 0, .samples = nullptr, .as_saved = 1};
    DnnTorchMessage message = {};
    DnnTorchPlan *plan = nullptr;
    EXPECT_EQ(engine().plan_make(measured.model.get(), &shape, 1, &parameters, &plan, &message),
              DNN_TORCH_OK);
    EXPECT_FALSE(contains(measured.model.notice(), told)) << measured.model.notice();
    EXPECT_STREQ(engine().plan_metadata(plan, "variant"), "as saved");
    engine().plan_close(&plan);
    expect_failure(WithWeights("everywhere").model.opened, DNN_TORCH_BAD_OPTION,
                   {"weights=everywhere", "shared, node"});
}

// ---- precision ----------------------------------------------------------------------

TEST(Precision, AutomaticChangesNoResult)
{
    Running automatic("net_upscaler", "frozen", "auto"), full("net_upscaler", "frozen", "fp32");
    const Pictures pictures(1, 3, 32, 32);
    EXPECT_EQ(run(automatic, pictures), run(full, pictures));
}

TEST(Precision, Bfloat16)
{
    const Pictures pictures(1, 3, 40, 48);
    for (const char *net : {"net_upscaler", "net_squeeze", "net_traced", "net_frozen", "net_prelu"})
        for (const char *variant : pinned_variants) {
            Running full(net, "0"), low(net, variant, "bf16");
            if (std::string(net) == "net_frozen" && std::string(variant) == "saved") {
                EXPECT_TRUE(contains(low.model.notice(), "precision=bf16 cannot be used"));
                continue; // weights in the code itself are not looked for there
            }
            EXPECT_TRUE(contains(low.model.variant(), "bf16")) << net << ' ' << low.model.notice();
            const std::vector<float> expected = run(full, pictures), result = run(low, pictures);
            EXPECT_NE(result, expected) << net << ' ' << variant;
            EXPECT_GE(psnr_decibel(result, expected), 35) << net << ' ' << variant;
        }
}

TEST(Precision, FusedIfNoOtherFormHasIt)
{
    Running full("net_decoder", "0"), low("net_decoder", "1", "bf16"),
        fused("net_decoder", "fused", "bf16");
    if (!contains(fused.model.variant(), "bf16, fused"))
        GTEST_SKIP() << fused.model.notice();
    EXPECT_TRUE(contains(low.model.variant(), "bf16")) << low.model.notice();
    const Pictures pictures(1, 3, 40, 48);
    EXPECT_GE(psnr_decibel(run(low, pictures), run(full, pictures)), 35);
}

// Built without oneDNN, the engine has no fused programs.
TEST(Precision, Int8)
{
    const Pictures pictures(1, 3, 40, 48);
    Running full("net_upscaler", "0"), low("net_upscaler", "1", "int8"),
        again("net_upscaler", "fused", "int8");
    if (contains(low.model.notice(), "built without oneDNN"))
        GTEST_SKIP() << low.model.notice();
    EXPECT_TRUE(contains(low.model.variant(), "int8, fused, ")) << low.model.notice();
    EXPECT_TRUE(contains(low.model.variant(), " dB PSNR from fp32"));
    const std::vector<float> result = run(low, pictures);
    EXPECT_NE(result, run(full, pictures));
    EXPECT_GE(psnr_decibel(result, run(full, pictures)), 35);
    EXPECT_EQ(result, run(again, pictures));
    Running other("net_upscaler", "frozen", "int8"), frozen("net_upscaler", "frozen");
    EXPECT_TRUE(contains(other.model.notice(), "precision=int8 cannot be used: only optimize"));
    EXPECT_EQ(run(other, pictures), run(frozen, pictures));
}

// Dark pictures, where a small part of the range is met.
void soften(Pictures &pictures, float white)
{
    for (size_t i = 0; i < pictures.samples.size(); i++)
        pictures.samples[i] = white * (0.5F + 0.5F * std::sin(0.05F * static_cast<float>(i % 200)));
}

// Gives the model's variant in words for pictures to calibrate with.
struct Calibrated {
    explicit Calibrated(const DnnTorchTensor *samples)
        : model(options_for(path_of("net_upscaler"), "1", "int8"))
    {
        EXPECT_EQ(model.tune({1, 3, 40, 48}, 0, samples).status, DNN_TORCH_OK);
    }
    std::vector<float> run(const Pictures &pictures)
    {
        Session session(model);
        EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
        return samples_of(session.output);
    }
    Model model;
};

TEST(Precision, Int8CalibratedWithAClip)
{
    Pictures samples(2, 3, 120, 200);
    soften(samples, 0.4F);
    const Pictures pictures(1, 3, 40, 48);
    const DnnTorchTensor given = tensor_of(samples.view);
    Calibrated usual(nullptr), of_clip(&given), again(&given);
    if (contains(usual.model.notice(), "built without oneDNN"))
        GTEST_SKIP() << usual.model.notice();
    EXPECT_FALSE(contains(usual.model.variant(), "clip")) << usual.model.variant();
    EXPECT_TRUE(contains(of_clip.model.variant(), "in parts of the clip"))
        << of_clip.model.variant();
    const std::vector<float> result = of_clip.run(pictures);
    EXPECT_NE(result, usual.run(pictures));
    EXPECT_EQ(result, again.run(pictures));
    Running full("net_upscaler", "0");
    EXPECT_GE(psnr_decibel(result, run(full, pictures)), 35);
}

TEST(Precision, Int8CalibratedWithWhatTellsNothing)
{
    Pictures flat(1, 3, 40, 48), wild(2, 3, 40, 48), huge(1, 3, 40, 48);
    huge.samples[100] = 1e30F;
    const Pictures pictures(1, 3, 40, 48), tiny(1, 3, 1, 1);
    std::fill(flat.samples.begin(), flat.samples.end(), 0.02F);
    for (size_t i = 0; i < wild.samples.size(); i += 7)
        wild.samples[i] = i % 2 ? NAN : INFINITY;
    Calibrated usual(nullptr);
    if (contains(usual.model.notice(), "built without oneDNN"))
        GTEST_SKIP() << usual.model.notice();
    for (const Pictures *samples :
         {&std::as_const(flat), &std::as_const(wild), &std::as_const(huge), &tiny}) {
        const DnnTorchTensor given = tensor_of(samples->view);
        Calibrated calibrated(&given);
        EXPECT_TRUE(contains(calibrated.model.variant(), "the clip's pictures are flat"))
            << calibrated.model.variant();
        EXPECT_EQ(calibrated.run(pictures), usual.run(pictures));
    }
}

TEST(Precision, Int8RefusesOtherSamples)
{
    Model model(options_for(path_of("net_upscaler"), "1", "int8"));
    const Pictures grey(1, 1, 40, 48), pictures(1, 3, 40, 48);
    const DnnTorchTensor other = tensor_of(grey.view);
    expect_failure(model.tune(usual_shape, 0, &other), DNN_TORCH_BAD_INPUT, {"calibrate"});
    DnnTorchTensor codes = tensor_of(pictures.view);
    codes.type = DNN_TORCH_U8;
    codes.white = 255;
    expect_failure(model.tune(usual_shape, 0, &codes), DNN_TORCH_BAD_INPUT, {"calibrate"});
    DnnTorchTensor gaps = tensor_of(pictures.view);
    gaps.strides[2] *= 2;
    gaps.dims[2] /= 2;
    expect_failure(model.tune(usual_shape, 0, &gaps), DNN_TORCH_BAD_INPUT, {"gaps"});
}

// Works, or is told of; LibTorch 1.13 has no convolution for it.
TEST(Precision, Half)
{
    Running full("net_upscaler", "1"), low("net_upscaler", "1", "fp16");
    const Pictures pictures(1, 3, 32, 32);
    const std::vector<float> expected = run(full, pictures), result = run(low, pictures);
    EXPECT_GE(psnr_decibel(result, expected), 50);
    const bool used = contains(low.model.variant(), "fp16");
    EXPECT_EQ(result == expected, !used);
    EXPECT_EQ(contains(low.model.notice(), "precision=fp16 cannot be used: "), !used);
}

TEST(Precision, ModelThatHoldsOnToFloat32)
{
    Running full("float_constant", "1"), low("float_constant", "1", "bf16");
    const Pictures pictures(1, 3, 32, 32);
    EXPECT_GE(psnr_decibel(run(low, pictures), run(full, pictures)), 35);
    EXPECT_EQ(contains(low.model.notice(), "the model runs in fp32"),
              contains(low.model.variant(), "fp32"));
}

// Only whoever left the choice open is told of another one, where it is worth it.
TEST(Precision, Hint)
{
    const Copy copy("net_deep");
    constexpr double budget_seconds = 1;
    Model automatic(options_for(copy.path)), chosen(options_for(copy.path, "1", "fp32"));
    Model again(options_for(copy.path)), low(options_for(copy.path, "1", "bf16"));
    EXPECT_EQ(automatic.hint(), "");
    for (Model *model : {&automatic, &chosen, &again, &low})
        EXPECT_EQ(model->tune({1, 3, 64, 96}, budget_seconds).status, DNN_TORCH_OK);
    EXPECT_EQ(chosen.hint(), "");
    EXPECT_EQ(again.hint(), automatic.hint());
    EXPECT_TRUE(contains(low.variant(), "bf16"));
    const double factor = automatic.tuning.run_seconds / low.tuning.run_seconds;
    double told = 0, decibel = 0;
    if (std::sscanf(automatic.hint().c_str(),
                    "precision=bf16 would be %lf times as fast, at %lf dB to fp32", &told,
                    &decibel) == 2) {
        EXPECT_GE(told, 1.5);
        EXPECT_GE(decibel, 35);
        EXPECT_GT(factor, told / 2);
    } else {
        EXPECT_EQ(automatic.hint(), "");
    }
}

// ---- tuning -------------------------------------------------------------------------

TEST(Tuning, WithoutBudgetMeasuresNothing)
{
    Running running("net_memory");
    EXPECT_EQ(running.tuned.status, DNN_TORCH_OK);
    EXPECT_EQ(running.model.tuning.run_seconds, 0);
    EXPECT_EQ(running.model.tuning.run_bytes, 0);
    EXPECT_FALSE(contains(running.model.variant(), "measured"));
}

TEST(Tuning, AnyBudgetWillDo)
{
    const Pictures pictures(1, 3, 160, 96);
    Running plain("net_prelu", "0");
    for (const double budget_seconds : {1e-9, 0.01, 0.1, 1.0}) {
        Running running("net_prelu");
        EXPECT_EQ(running.model.tune(pictures.shape(), budget_seconds).status, DNN_TORCH_OK);
        EXPECT_LT(difference(run(running, pictures), run(plain, pictures)), 1e-4F);
    }
}

// Of a model whose trials alone take all the time, the first variant that passes them is taken.
TEST(Tuning, SlowModelsAreNotMeasured)
{
    expect_in_time([] {
        const Copy copy("net_prelu");
        Model model(options_for(copy.path));
        const double took = seconds_of([&] {
            EXPECT_EQ(model.tune(Pictures(1, 3, 2160, 3840).shape(), 1e-3).status, DNN_TORCH_OK);
        });
        EXPECT_FALSE(contains(model.variant(), "as saved")) << model.variant();
        EXPECT_GT(model.tuning.run_seconds, 0);
        return took < model.tuning.run_seconds; // of a whole frame
    });
}

// Trials, measuring and the trial with a whole picture together.
TEST(Tuning, KeepsTheBudget)
{
    expect_in_time([] {
        constexpr double budget_seconds = 0.6;
        const Copy copy("net_memory");
        Model model(options_for(copy.path));
        const double took = seconds_of([&] {
            EXPECT_EQ(model.tune({1, 3, 640, 640}, budget_seconds).status, DNN_TORCH_OK);
        });
        return took <= budget_seconds * 1.3 && contains(model.variant(), "(measured)");
    });
}

// Whether what tuning tells of a run is near to what a run takes.
bool tells_the_time(const Pictures &pictures, double budget_seconds)
{
    const Copy copy("net_memory");
    Model model(options_for(copy.path));
    const double took = seconds_of(
        [&] { EXPECT_EQ(model.tune(pictures.shape(), budget_seconds).status, DNN_TORCH_OK); });
    Session session(model);
    double fastest = 1e9;
    for (int i = 0; i < 5; i++)
        fastest = std::min(fastest, seconds_of([&] { session.run(pictures.view); }));
    const double told = model.tuning.run_seconds;
    return contains(model.variant(), "(measured)") && told > fastest / 2 && told < fastest * 2 &&
           took < 3 * budget_seconds;
}

TEST(Tuning, TellsHowLongARunTakes)
{
    const Pictures pictures(1, 3, 640, 256);
    expect_in_time([&, budget_seconds = 0.15]() mutable {
        return tells_the_time(pictures, std::exchange(budget_seconds, 1.15 - budget_seconds));
    });
}

// Restricts the calling thread, and those that it starts, to one core.
class OneCore
{
public:
    OneCore()
    {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
    OneCore(const OneCore &) = delete;
    OneCore &operator=(const OneCore &) = delete;

private:
    cpu_set_t before_;
};

double told_run_seconds()
{
    const Copy copy("net_memory");
    Model model(options_for(copy.path, "frozen"));
    EXPECT_EQ(model.tune({1, 3, 640, 256}, 1).status, DNN_TORCH_OK);
    EXPECT_GT(model.tuning.run_seconds, 0);
    return model.tuning.run_seconds;
}

// What was found on a busy machine is remembered, and holds for a quiet one.
TEST(Tuning, MeasuresTheSameBesideOthers)
{
    const double alone = told_run_seconds();
    const OneCore core;
    std::atomic<bool> ends = false;
    std::vector<std::thread> others(6);
    for (std::thread &other : others)
        other = std::thread([&ends] {
            while (!ends)
                ;
        });
    const double beside_others = told_run_seconds();
    ends = true;
    for (std::thread &other : others)
        other.join();
    EXPECT_LT(beside_others, alone * 3);
}

TEST(Tuning, TellsWhatARunHolds)
{
    const Copy whole("net_memory"), in_parts("net_memory");
    // What the first layer returns, and never more than some of its like.
    constexpr int64_t layer_bytes = 32 * 640 * 256 * 4;
    Model model(options_for(whole.path, "frozen")), hasty(options_for(in_parts.path, "frozen"));
    EXPECT_EQ(model.tune({1, 3, 640, 256}, 1).status, DNN_TORCH_OK);
    EXPECT_EQ(hasty.tune({1, 3, 640, 256}, 1e-6).status, DNN_TORCH_OK);
    for (const int64_t bytes : {model.tuning.run_bytes, hasty.tuning.run_bytes}) {
        EXPECT_GE(bytes, layer_bytes);
        EXPECT_LT(bytes, 4 * layer_bytes);
    }
}

TEST(Tuning, RefusesAnEmptyShape)
{
    Running running("double");
    expect_failure(running.model.tune({1, 3, 0, 8}), DNN_TORCH_BAD_INPUT, {"shape"});
    expect_failure(running.model.tune({0, 3, 8, 8}, 1), DNN_TORCH_BAD_INPUT, {"shape"});
}

// Such a model is told of when it runs.
TEST(Tuning, ThatFailsIsNoFailure)
{
    for (const char *name : {"raises", "asserts", "mismatch", "cuda"}) {
        Running running(name);
        EXPECT_EQ(running.model.tune(usual_shape, 0.1).status, DNN_TORCH_OK) << name;
        EXPECT_EQ(running.model.variant(), "as saved") << name;
        EXPECT_NE(running.session.run(Pictures(1, 3, 16, 16)).status, DNN_TORCH_OK) << name;
    }
}

TEST(Tuning, OfAModelForSomeSizesAlone)
{
    Running halves("net_halves"), fixed("fixed_size");
    EXPECT_EQ(halves.model.tune({1, 3, 104, 72}, 0.2).status, DNN_TORCH_OK);
    EXPECT_EQ(run(halves, Pictures(1, 3, 104, 72)).size(), 3U * 104 * 72);
    EXPECT_EQ(fixed.model.tune({1, 3, 9, 31}, 0.2).status, DNN_TORCH_OK);
    EXPECT_TRUE(contains(fixed.model.variant(), "fp32")) << fixed.model.variant();
    const Pictures pictures(1, 3, 9, 31);
    EXPECT_EQ(run(fixed, pictures), times(pictures.samples, 2));
}

TEST(Tuning, LeavesStateAlone)
{
    Model model(options_for(path_of("counts"), "inference", "bf16"));
    EXPECT_TRUE(contains(model.notice(), "precision=bf16 is ignored")) << model.notice();
    EXPECT_TRUE(contains(model.notice(), "optimize=inference is ignored")) << model.notice();
    EXPECT_EQ(model.tune({1, 1, 2, 2}, 0.2).status, DNN_TORCH_OK);
    EXPECT_EQ(model.variant(), "as saved");
    Session session(model);
    session.warm();
    ASSERT_EQ(session.run(Pictures(1, 1, 2, 2)).status, DNN_TORCH_OK);
    EXPECT_EQ(sample(session.output, 0, 0, 0, 0), 1.0F);
}

TEST(Warm, LeavesTheLastPictureAndTellsNothing)
{
    Running running("fixed_size");
    const Pictures pictures(1, 3, 9, 5);
    const std::vector<float> result = run(running, pictures);
    for (const Shape &shape : {Shape{1, 3, 9, 5}, Shape{1, 3, 8, 8}}) { // the second is refused
        EXPECT_EQ(running.model.tune(shape).status, DNN_TORCH_OK);
        running.session.warm();
    }
    EXPECT_EQ(samples_of(running.session.output), result);
    EXPECT_EQ(run(running, pictures), result);
}

TEST(Warm, IsNothingWhereRunsTakeLong)
{
    Model model(options_for(path_of("many_times")));
    EXPECT_EQ(model.tune({1, 3, 160, 160}, 1e-3).status, DNN_TORCH_OK);
    ASSERT_GT(model.tuning.run_seconds, 0.1);
    Session session(model);
    EXPECT_LT(seconds_of([&] { session.warm(); }), model.tuning.run_seconds / 4);
}

// ---- what is remembered ---------------------------------------------------------------

// A folder of one's own, named by an environment variable while it lives.
class Folder
{
public:
    explicit Folder(const char *variable)
        : path(filesystem::path(testing::TempDir()) / "engine-torch-XXXXXX"), variable_(variable),
          before_(getenv(variable) ? getenv(variable) : "")
    {
        std::string name = path.string();
        path = mkdtemp(name.data());
        setenv(variable, path.c_str(), 1);
    }
    ~Folder()
    {
        setenv(variable_, before_.c_str(), 1);
        filesystem::remove_all(path);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    std::vector<filesystem::path> files() const
    {
        std::vector<filesystem::path> all;
        for (const auto &entry : filesystem::recursive_directory_iterator(path))
            if (entry.is_regular_file())
                all.push_back(entry.path());
        return all;
    }

    filesystem::path path;

private:
    const char *variable_;
    std::string before_;
};

constexpr Shape small_shape = {1, 3, 64, 64};
constexpr double short_seconds = 0.3;

struct Found {
    DnnTorchPlanFacts tuning;
    std::string variant;

    bool operator==(const Found &other) const
    {
        return tuning.run_seconds == other.tuning.run_seconds &&
               tuning.run_bytes == other.tuning.run_bytes &&
               tuning.interleaved == other.tuning.interleaved && variant == other.variant;
    }
};

Found tune(const std::string &path, double budget_seconds = short_seconds)
{
    Model model(options_for(path));
    EXPECT_EQ(model.tune(small_shape, budget_seconds).status, DNN_TORCH_OK);
    EXPECT_TRUE(contains(model.variant(), "(measured)")) << model.variant();
    EXPECT_GT(model.tuning.run_seconds, 0);
    return {model.tuning, model.variant()};
}

std::string contents_of(const filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Remembered, InTheProcess)
{
    const Copy copy("net_tanh");
    const Found first = tune(copy.path);
    EXPECT_EQ(tune(copy.path), first);
    EXPECT_EQ(tune(copy.path, 0), first);
}

TEST(Remembered, NotForAnotherFileOfThatName)
{
    const Copy copy("net_tanh");
    const Found first = tune(copy.path);
    filesystem::copy_file(path_of("net_memory"), copy.path,
                          filesystem::copy_options::overwrite_existing);
    EXPECT_FALSE(tune(copy.path) == first);
}

TEST(Remembered, InTheFolder)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy here("net_tanh"), there("net_tanh"), other("net_silu");
    const Found first = tune(here.path);
    ASSERT_EQ(folder.files().size(), 1U);
    EXPECT_EQ(tune(there.path, 0), first);
    EXPECT_EQ(folder.files().size(), 1U);
    tune(other.path);
    EXPECT_EQ(folder.files().size(), 2U);
}

// What was remembered had been compared, and the first frame is compared again.
TEST(Remembered, FormsAreNotTriedAgain)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy here("many_times"), there("many_times");
    Model before(options_for(here.path));
    EXPECT_EQ(before.tune(small_shape, 1e-3).status, DNN_TORCH_OK);
    Model model(options_for(there.path));
    const double took =
        seconds_of([&] { EXPECT_EQ(model.tune(small_shape, short_seconds).status, DNN_TORCH_OK); });
    EXPECT_EQ(model.variant(), before.variant());
    Session session(model);
    const Pictures pictures(1, 3, 64, 64);
    const double first = seconds_of([&] { session.run(pictures.view); }); // also as it was saved
    EXPECT_LT(took, 2 * first); // trying a variant takes three times as long
}

TEST(Remembered, DamagedFilesAreMeasuredAnew)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy first("net_tanh");
    tune(first.path);
    ASSERT_EQ(folder.files().size(), 1U);
    const filesystem::path file = folder.files().front();
    const std::string whole = contents_of(file);
    const std::string damages[] = {"",
                                   "x",
                                   whole.substr(0, whole.size() / 2),
                                   whole.substr(0, whole.size() - 1),
                                   whole + whole,
                                   std::string(100000, '\n')};
    for (const std::string &damage : damages) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << damage;
        const Copy copy("net_tanh");
        tune(copy.path);
        EXPECT_NE(contents_of(file), damage);
    }
}

enum Line : size_t {
    variant_line = 2,
    precision_line,
    seconds_line,
    bytes_line,
    refused_optimize_line = 10,
    refused_precision_line,
    threaded_line
};

std::string with_line(const std::string &record, size_t line, const std::string &text)
{
    size_t start = 0;
    for (size_t i = 0; i < line; i++)
        start = record.find('\n', start) + 1;
    std::string changed = record;
    return changed.replace(start, record.find('\n', start) - start, text);
}

TEST(Remembered, NonsenseInAWellFormedFileIsNotBelieved)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy first("net_tanh");
    tune(first.path);
    const filesystem::path file = folder.files().at(0);
    const std::string whole = contents_of(file);
    const std::string lines[] = {"nosuch", "fp64", "-1",    "nan",
                                 "inf",    "1e",   "1e300", "99999999999999999999"};
    for (size_t line = variant_line; line <= bytes_line; line++)
        for (const std::string &nonsense : lines) {
            std::ofstream(file, std::ios::binary | std::ios::trunc)
                << with_line(whole, line, nonsense);
            // Without a budget nothing is measured: what says so was taken from the file.
            const Copy copy("net_tanh");
            Model model(options_for(copy.path));
            EXPECT_EQ(model.tune(small_shape, 0).status, DNN_TORCH_OK);
            EXPECT_FALSE(contains(model.variant(), "(measured)")) << line << ' ' << nonsense;
        }
}

// Returns the variant that a model runs in, without measuring, if lines of its record in the folder
// say something else.
std::string variant_with(const char *net, const char *optimize, const char *precision,
                         const std::vector<std::pair<Line, const char *>> &lines)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy first(net), second(net);
    Model measured(options_for(first.path, optimize, precision));
    EXPECT_EQ(measured.tune(small_shape, short_seconds).status, DNN_TORCH_OK);
    EXPECT_TRUE(contains(measured.variant(), "(measured)")) << measured.variant();
    const filesystem::path file = folder.files().at(0);
    std::string contents = contents_of(file);
    for (const auto &[line, text] : lines)
        contents = with_line(contents, line, text);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
    Model model(options_for(second.path, optimize, precision));
    EXPECT_EQ(model.tune(small_shape, 0).status, DNN_TORCH_OK);
    return model.variant();
}

struct WithStates {
    WithStates()
        : file(open(copy.path.c_str(), O_RDONLY)),
          model({.size = sizeof(DnnTorchSource), .name = copy.path.c_str(), .fd = file},
                {{"optimize", "1"}, {"inputs", "r=state=1"}})
    {
    }
    ~WithStates() { close(file); }
    const Copy copy{"states_convolved"};
    const int file;
    Model model;
};

// A model with states has one worker with all cores.
TEST(Remembered, WhatRunsWithSeveralThreads)
{
    if (contains(Running("net_upscaler", "fused").model.notice(), "built without oneDNN"))
        GTEST_SKIP();
    const Folder folder("DNN_TORCH_CACHE");
    WithStates first;
    EXPECT_EQ(first.model.tune(small_shape, short_seconds).status, DNN_TORCH_OK);
    ASSERT_EQ(folder.files().size(), 1U);
    const filesystem::path file = folder.files().at(0);
    const std::string whole = with_line(contents_of(file), variant_line, "fused");
    for (const std::string word : {"channels_last", "inference", "frozen", "nosuch"}) {
        std::ofstream(file, std::ios::binary | std::ios::trunc)
            << with_line(whole, threaded_line, word);
        WithStates next;
        EXPECT_EQ(next.model.tune(small_shape, 0).status, DNN_TORCH_OK);
        EXPECT_EQ(next.model.threaded_variant(), "fp32, " + (word == "nosuch" ? "frozen" : word) +
                                                     " (fused programs use one thread)");
    }
}

TEST(Remembered, AnotherVariantThanThePinnedOneMustBeMarked)
{
    const auto variant = [](Line line, const char *word) {
        return variant_with("net_tanh", "frozen", "fp32",
                            {{variant_line, "channels_last"}, {line, word}});
    };
    EXPECT_EQ(variant(refused_optimize_line, "kept"), "fp32, frozen");
    EXPECT_EQ(variant(refused_precision_line, "refused"), "fp32, frozen");
    EXPECT_EQ(variant(refused_optimize_line, "nosuch"), "fp32, frozen");
    EXPECT_EQ(variant(refused_optimize_line, "refused"), "fp32, channels_last (measured)");
}

TEST(Remembered, AnotherPrecisionThanTheRequestedOneMustBeMarked)
{
    const auto variant = [](Line line, const char *word) {
        return variant_with("net_tanh", "frozen", "bf16", {{precision_line, "fp32"}, {line, word}});
    };
    EXPECT_EQ(variant(refused_precision_line, "kept"), "bf16, frozen");
    EXPECT_EQ(variant(refused_optimize_line, "refused"), "bf16, frozen");
    EXPECT_EQ(variant(refused_precision_line, "refused"), "fp32, frozen (measured)");
}

// No trial is sure to see every branch.
TEST(Remembered, RewrittenVariantsAreNotForModelsThatBranch)
{
    EXPECT_EQ(variant_with("form_behind_item", "1", "fp32", {{variant_line, "channels_last"}}),
              "fp32, frozen");
}

// Each in the place of the file; a pipe is nobody's to wait for.
TEST(Remembered, WhatIsNoFileIsNotRead)
{
    const Folder folder("DNN_TORCH_CACHE");
    const Copy first("net_tanh");
    tune(first.path);
    const filesystem::path file = folder.files().at(0);
    const auto make_pipe = [&] { return mkfifo(file.c_str(), 0600); };
    const auto make_folder = [&] { return mkdir(file.c_str(), 0700); };
    const auto make_link = [&] { return symlink("/dev/zero", file.c_str()); };
    for (const std::function<int()> &make :
         {std::function<int()>(make_pipe), std::function<int()>(make_folder),
          std::function<int()>(make_link)}) {
        filesystem::remove(file);
        ASSERT_EQ(make(), 0);
        const Copy copy("net_tanh");
        tune(copy.path);
        EXPECT_FALSE(copy.path.empty());
    }
}

TEST(Remembered, WithoutAFolderToWriteTo)
{
    for (const char *folder : {"/proc/nowhere", "/dev/null", "/dev/null/below"}) {
        setenv("DNN_TORCH_CACHE", folder, 1);
        const Copy copy("net_tanh");
        tune(copy.path);
    }
    setenv("DNN_TORCH_CACHE", "", 1);
}

TEST(Remembered, WhereTheUserKeepsCaches)
{
    const Folder caches("XDG_CACHE_HOME");
    const Copy first("net_tanh"), second("net_tanh");
    tune(first.path);
    EXPECT_TRUE(caches.files().empty());
    unsetenv("DNN_TORCH_CACHE");
    tune(second.path);
    setenv("DNN_TORCH_CACHE", "", 1);
    ASSERT_EQ(caches.files().size(), 1U);
    EXPECT_EQ(caches.files().front().parent_path(), caches.path / "dnn-torch");
}

} // namespace
