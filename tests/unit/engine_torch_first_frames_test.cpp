// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// No picture of a variant that is wrong leaves the engine, whatever hides the fault.
#include "engine_torch_models.h"

#include "engines/torch/tuning/first_frames.h"

#include <chrono>
#include <future>
#include <thread>

namespace
{

using engine_torch::FirstFrames;
using engine_torch::Turn;
using Verdict = FirstFrames::Verdict;
using namespace std::chrono_literals;

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

// ---- who is compared --------------------------------------------------------------------

const FirstFrames::Kind kind = FirstFrames::kind_of({1, 3, 8, 8}, false);
const FirstFrames::Kind other_kind = FirstFrames::kind_of({1, 3, 8, 9}, false);
const std::atomic<bool> not_stopped{false};

TEST(FirstFrames, TheEarliestIsCompared)
{
    FirstFrames frames;
    FirstFrames::Run second(frames, kind, {1}), first(frames, kind, {0});
    std::thread waiting([&] { EXPECT_EQ(second.verdict(not_stopped), Verdict::good); });
    EXPECT_EQ(first.verdict(not_stopped), Verdict::to_compare);
    EXPECT_FALSE(frames.begin_good(kind, {2}));
    first.decide(true);
    waiting.join();
    EXPECT_TRUE(frames.begin_good(kind, {2}));
    EXPECT_FALSE(frames.begin_good(other_kind, {2}));
}

TEST(FirstFrames, OneOfTheSameNumberIsCompared)
{
    FirstFrames frames;
    FirstFrames::Run first(frames, kind, {0}), second(frames, kind, {0});
    EXPECT_EQ(first.verdict(not_stopped), Verdict::to_compare);
    first.decide(true);
    EXPECT_EQ(second.verdict(not_stopped), Verdict::good);
}

TEST(FirstFrames, ABadOneIsBadForAll)
{
    FirstFrames frames;
    FirstFrames::Run first(frames, kind, {0}), second(frames, other_kind, {1});
    first.decide(false);
    EXPECT_EQ(second.verdict(not_stopped), Verdict::bad);
    EXPECT_FALSE(frames.begin_good(kind, {2}));
}

TEST(FirstFrames, AnotherTakesOverFromOneThatFailed)
{
    FirstFrames frames;
    auto first = std::make_unique<FirstFrames::Run>(frames, kind, Turn{0});
    FirstFrames::Run second(frames, kind, {1});
    std::thread waiting([&] { EXPECT_EQ(second.verdict(not_stopped), Verdict::to_compare); });
    first.reset();
    waiting.join();
}

TEST(FirstFrames, NobodyWaitsAfterAStop)
{
    FirstFrames frames;
    std::atomic<bool> stopped{false};
    FirstFrames::Run first(frames, kind, {0}), second(frames, kind, {1});
    std::thread waiting([&] { EXPECT_EQ(second.verdict(stopped), Verdict::stopped); });
    stopped = true;
    waiting.join();
}

// ---- who waits for whom -----------------------------------------------------------------

std::future<Verdict> verdict_of(FirstFrames::Run &run,
                                const std::atomic<bool> &stopped = not_stopped)
{
    return std::async(std::launch::async, [&] { return run.verdict(stopped); });
}

// Long enough for a verdict that does not wait.
bool waits(const std::future<Verdict> &verdict)
{
    return verdict.wait_for(60ms) == std::future_status::timeout;
}

TEST(Turns, ARunWaitsForTheOneBeforeIt)
{
    FirstFrames frames;
    FirstFrames::Run second(frames, kind, {1, 0});
    std::future<Verdict> verdict = verdict_of(second);
    EXPECT_TRUE(waits(verdict));
    FirstFrames::Run first(frames, kind, {0});
    EXPECT_EQ(first.verdict(not_stopped), Verdict::to_compare);
    EXPECT_TRUE(waits(verdict));
    first.decide(false);
    EXPECT_EQ(verdict.get(), Verdict::bad);
}

// The one right before it has begun, and is as early as itself.
TEST(Turns, ARunWaitsForAllBeforeIt)
{
    FirstFrames frames;
    FirstFrames::Run third(frames, kind, {8, 4});
    std::future<Verdict> verdict = verdict_of(third);
    auto second = std::make_unique<FirstFrames::Run>(frames, kind, Turn{4, 0});
    second.reset();
    EXPECT_TRUE(waits(verdict));
    frames.begin({0});
    EXPECT_EQ(verdict.get(), Verdict::to_compare);
}

TEST(Turns, OneThatHasEndedHasBegun)
{
    FirstFrames frames;
    std::make_unique<FirstFrames::Run>(frames, kind, Turn{0}).reset();
    FirstFrames::Run second(frames, kind, {1, 0});
    EXPECT_EQ(second.verdict(not_stopped), Verdict::to_compare);
}

TEST(Turns, TheLastTileCounts)
{
    FirstFrames frames;
    FirstFrames::Run second(frames, kind, {1, 0});
    std::future<Verdict> verdict = verdict_of(second);
    frames.begin({0, std::nullopt, true});
    EXPECT_TRUE(waits(verdict)) << "a later tile may be the first of its kind";
    frames.begin({0});
    EXPECT_EQ(verdict.get(), Verdict::to_compare);
}

// Another one may be the first of its kind, and wrong.
TEST(Turns, ARunOfAGoodKindWaitsForThoseBeforeIt)
{
    FirstFrames frames;
    FirstFrames::Run first(frames, kind, {0});
    first.decide(true);
    EXPECT_FALSE(frames.begin_good(kind, {2, 1}));
    FirstFrames::Run third(frames, kind, {2, 1});
    std::future<Verdict> verdict = verdict_of(third);
    EXPECT_TRUE(waits(verdict));
    FirstFrames::Run second(frames, other_kind, {1, 0});
    EXPECT_EQ(second.verdict(not_stopped), Verdict::to_compare);
    EXPECT_TRUE(waits(verdict));
    second.decide(false);
    EXPECT_EQ(verdict.get(), Verdict::bad);
}

TEST(Turns, OneThatCameBeforeABadOneKeepsItsForm)
{
    FirstFrames frames;
    FirstFrames::Run first(frames, kind, {0});
    first.decide(true);
    FirstFrames::Run second(frames, kind, {1, 0}), third(frames, other_kind, {2, 1});
    third.decide(false);
    EXPECT_EQ(second.verdict(not_stopped), Verdict::good);
}

TEST(Turns, GoodTilesWaitForNoOtherTiles)
{
    FirstFrames frames;
    FirstFrames::Run first(frames, kind, {0, std::nullopt, true});
    first.decide(true);
    EXPECT_TRUE(frames.begin_good(kind, {1, 0, true}));
}

TEST(Turns, PatienceEndsOnce)
{
    FirstFrames frames(100ms);
    FirstFrames::Run second(frames, kind, {1, 0});
    EXPECT_EQ(second.verdict(not_stopped), Verdict::to_compare);
    second.decide(true);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t number = 5; number < 50; number += 2)
        EXPECT_TRUE(frames.begin_good(kind, {number, number - 1}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 80ms);
}

TEST(Turns, PatienceIsNotForOneThatIsUnderWay)
{
    FirstFrames frames(100ms);
    FirstFrames::Run first(frames, kind, {0, std::nullopt, true}), second(frames, kind, {1, 0});
    std::future<Verdict> verdict = verdict_of(second);
    EXPECT_EQ(verdict.wait_for(300ms), std::future_status::timeout);
    first.decide(false);
    EXPECT_EQ(verdict.get(), Verdict::bad);
}

TEST(Turns, AStopEndsTheWait)
{
    FirstFrames frames;
    std::atomic<bool> stopped{false};
    FirstFrames::Run second(frames, kind, {1, 0});
    std::future<Verdict> verdict = verdict_of(second, stopped);
    EXPECT_TRUE(waits(verdict));
    stopped = true;
    EXPECT_EQ(verdict.get(), Verdict::stopped);
}

TEST(Turns, BeginAnewWithAnotherStream)
{
    FirstFrames frames;
    {
        const FirstFrames::Membership session(frames);
        frames.begin({100});
    }
    const FirstFrames::Membership session(frames);
    FirstFrames::Run second(frames, kind, {1, 0});
    std::future<Verdict> verdict = verdict_of(second);
    EXPECT_TRUE(waits(verdict));
    frames.begin({0});
    EXPECT_EQ(verdict.get(), Verdict::to_compare);
}

// ---- pictures -----------------------------------------------------------------------------

constexpr Shape wide_shape = {1, 3, 320, 64};

struct Filled : Pictures {
    Filled(const Shape &shape, float value)
        : Pictures(shape.batch, shape.channels, shape.height, shape.width)
    {
        std::fill(samples.begin(), samples.end(), value);
    }
};

struct Hidden {
    const char *model;
    float sample; // of a picture that shows the fault; -1: one with contents
    bool is_branch;
};

const Hidden faults[] = {{"pure_hardswish", -1, false},    {"form_beside_infinity", -1, false},
                         {"form_behind_content", 1, true}, {"form_behind_item", 0, true},
                         {"form_behind_loop", 1, true},    {"form_behind_count", 3, true},
                         {"form_behind_size", -1, false},  {"form_behind_noise", 0.123F, false}};

std::vector<float> finite(std::vector<float> samples)
{
    for (float &sample : samples)
        sample = std::isfinite(sample) ? std::min(sample, 2.0F) : 0;
    return samples;
}

std::vector<float> run_all(Running &running, const Pictures &pictures)
{
    return finite(run(running, pictures));
}

// Each frame of a run, the first one too, of each variant that is asked for or chosen.
TEST(WrongForms, NeverShow)
{
    for (const Hidden &fault : faults) {
        Running plain(fault.model, "0");
        const Filled filled(wide_shape, fault.sample);
        const Pictures contents(1, 3, 320, 64);
        const Pictures &pictures = fault.sample < 0 ? contents : filled;
        const std::vector<float> expected = run_all(plain, pictures);
        for (const char *variant : {"1", "frozen", "channels_last", "inference"})
            for (const double budget_seconds : {0.0, 0.3}) {
                Running running(fault.model, variant);
                running.model.tune(wide_shape, budget_seconds);
                for (int i = 0; i < 3; i++)
                    EXPECT_LT(difference(run_all(running, pictures), expected), 1e-3F)
                        << fault.model << ' ' << variant << ' ' << running.model.variant();
            }
    }
}

TEST(WrongForms, AreNotEvenTriedBehindBranches)
{
    for (const Hidden &fault : faults) {
        Running chosen(fault.model), pinned(fault.model, "inference");
        if (fault.is_branch) {
            EXPECT_EQ(chosen.model.variant(), "fp32, frozen") << fault.model;
            EXPECT_TRUE(contains(pinned.model.notice(), "optimize=inference cannot be used"))
                << fault.model << ": " << pinned.model.notice();
        }
    }
}

// A fault that only this picture shows: told once, and not chosen again.
TEST(WrongForms, AreForgotten)
{
    const Copy copy("form_behind_noise");
    const Filled pictures(usual_shape, 0.123F);
    Model first(options_for(copy.path, "inference"));
    first.tune(usual_shape);
    if (first.variant() != "fp32, inference")
        GTEST_SKIP() << "this LibTorch has no such form of the model: " << first.notice();
    std::vector<std::thread> threads;
    std::vector<std::vector<float>> results(3);
    for (std::vector<float> &result : results)
        threads.emplace_back([&] {
            Session session(first);
            for (int i = 0; i < 3; i++)
                EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
            result = samples_of(session.output);
        });
    for (std::thread &thread : threads)
        thread.join();
    Running plain("form_behind_noise", "0");
    const std::vector<float> expected = run(plain, pictures);
    for (const std::vector<float> &result : results)
        EXPECT_LT(difference(result, expected), 1e-4F);
    if (!contains(first.notice(), "another picture"))
        GTEST_SKIP() << "this LibTorch does it right";
    Model again(options_for(copy.path, "inference"));
    again.tune(usual_shape);
    EXPECT_NE(again.variant(), "fp32, inference");
    EXPECT_TRUE(contains(again.notice(), "seen to be wrong")) << again.notice();
}

// The same bytes, whoever of them was compared.
TEST(RightForms, GiveTheSameBytesFromTheFirstFrameOn)
{
    Running running("net_upscaler", "frozen");
    const Pictures pictures(1, 3, 40, 56);
    const std::vector<float> first = run(running, pictures);
    EXPECT_EQ(run(running, pictures), first);
    EXPECT_EQ(running.model.notice(), "");
}

} // namespace
