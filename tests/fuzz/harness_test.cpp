// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whether what finds faults does find them: a target that has some of each kind.
#include "campaign.h"
#include "change_model.h"
#include "changes.h"
#include "pickle.h"
#include "zip.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <new>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using fuzz::Archive;
using fuzz::Campaign;
using fuzz::CorpusFile;
using fuzz::Ending;
using fuzz::Event;
using fuzz::Family;
using fuzz::Member;
using fuzz::Outcome;
using fuzz::Random;
using fuzz::Result;
using fuzz::run_alone;

[[gnu::noinline]] int call_oneself(int depth)
{
    if (depth < 0)
        return 0;
    volatile char room[4096] = {};
    const int deeper = call_oneself(depth + 1);
    return deeper + room[static_cast<size_t>(depth) % sizeof room]; // after the call
}

void swallow_memory()
{
    std::vector<std::string> pieces;
    for (;;)
        pieces.emplace_back(1 << 20, 'x');
}

// A word and what happens at it.
Outcome run(std::string_view input)
{
    if (input == "crash")
        std::raise(SIGSEGV);
    if (input == "recursion")
        return {Ending::accepted, static_cast<uint64_t>(call_oneself(0)), ""};
    if (input == "exit")
        _exit(0);
    if (input == "runs for ever")
        fuzz::input_runs(true);
    while (input == "wait")
        pause();
    if (input == "hardly runs")
        std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    for (volatile bool on = true; on && (input == "hang" || input == "runs for ever");)
        continue;
    if (input == "fault")
        return {Ending::fault, 0, "what must not be"};
    if (input == "memory")
        try {
            swallow_memory();
        } catch (const std::bad_alloc &) {
            return {Ending::out_of_memory, 0, ""};
        }
    if (input == "file")
        std::ofstream("left behind") << "x";
    const auto size = static_cast<uint64_t>(input.size());
    return input.empty() ? Outcome{} : Outcome{Ending::accepted, size, ""};
}

// The byte says what becomes of the word.
std::string change(std::string &input, Family family, Random &random, const fuzz::Inputs &)
{
    static const fuzz::Inputs words = {"crash", "fault", "longer than it was", "", "other"};
    input = family == Family::damage ? "longer than it was" : random.pick(words);
    return "say " + input;
}

Result result_of(const char *input)
{
    return run_alone(input);
}

TEST(Sandbox, TellsHowAnInputEnded)
{
    EXPECT_EQ(result_of("any").outcome.ending, Ending::accepted);
    EXPECT_EQ(result_of("any").outcome.digest, 3U);
    EXPECT_FALSE(result_of("any").is_finding());
    EXPECT_EQ(result_of("").outcome.ending, Ending::refused);
    EXPECT_FALSE(result_of("").is_finding());
    EXPECT_EQ(result_of("fault").kind(), "what must not be");
    EXPECT_TRUE(result_of("fault").is_finding());
}

TEST(Sandbox, SurvivesASignal)
{
    const Result crash = result_of("crash");
    EXPECT_EQ(crash.event, Event::crashed);
    EXPECT_EQ(crash.signal, SIGSEGV);
    EXPECT_TRUE(crash.is_finding());
}

TEST(Sandbox, SurvivesAFullStackAndNamesTheFunction)
{
    const Result crash = result_of("recursion");
    EXPECT_EQ(crash.signal, SIGSEGV);
    EXPECT_NE(crash.place.find("harness_test"), std::string::npos) << crash.place;
}

TEST(Sandbox, AnEndOfTheProcessIsAFinding)
{
    EXPECT_TRUE(result_of("exit").is_finding());
}

TEST(Sandbox, EndsWhatHangs)
{
    EXPECT_EQ(result_of("hang").event, Event::hung);
    EXPECT_TRUE(result_of("hang").is_finding());
    EXPECT_EQ(result_of("wait").event, Event::hung);
}

// As on a busy machine: nearly none of the processor's time, and much of the clock's.
TEST(Sandbox, WhatHardlyRunsDoesNotHang)
{
    EXPECT_EQ(result_of("hardly runs").event, Event::ended);
}

TEST(Sandbox, WhatWasLetInMayTakeLong)
{
    EXPECT_EQ(result_of("runs for ever").event, Event::too_long);
    EXPECT_FALSE(result_of("runs for ever").is_finding());
}

TEST(Sandbox, LimitsMemory)
{
    if (getenv("DNN_TORCH_SANITIZED"))
        GTEST_SKIP() << "a sanitizer maps more than any limit allows";
    EXPECT_EQ(result_of("memory").kind(), "memory");
    EXPECT_TRUE(result_of("memory").is_finding());
}

TEST(Sandbox, GoesOnAfterEachFinding)
{
    const fuzz::Inputs inputs = {"a", "crash", "bb", "hang", "ccc", "crash"};
    std::string told;
    fuzz::run_in_children(
        0, inputs.size(), [&](size_t i) { return inputs[i]; },
        [&](size_t i, const Result &result) {
            told += std::to_string(i) + (result.is_finding() ? "!" : ".");
        });
    EXPECT_EQ(told, "0.1!2.3!4.5!");
}

// What its name promises of a file, and one finding for a kind of mutant.
std::vector<CorpusFile> corpus(const std::string &name, const std::string &bytes)
{
    return {{"/corpus/" + name, bytes}};
}

fuzz::Plan plan_of(size_t mutants)
{
    fuzz::Plan plan;
    plan.mutants = mutants;
    return plan;
}

TEST(Campaign, HoldsTheCorpusToItsNames)
{
    EXPECT_EQ(Campaign(plan_of(0), corpus("accepted-a", "word")).run(), 0U);
    EXPECT_EQ(Campaign(plan_of(0), corpus("accepted-a", "")).run(), 1U);
    EXPECT_EQ(Campaign(plan_of(0), corpus("refused-a", "")).run(), 0U);
    EXPECT_EQ(Campaign(plan_of(0), corpus("refused-a", "word")).run(), 1U);
    EXPECT_EQ(Campaign(plan_of(0), corpus("any", "word")).run(), 0U);
    EXPECT_EQ(Campaign(plan_of(0), corpus("any", "crash")).run(), 1U);
}

TEST(Campaign, FindsCrashesFaultsAndOtherResults)
{
    testing::internal::CaptureStdout();
    Campaign campaign(plan_of(60), corpus("a", "word"));
    const size_t findings = campaign.run();
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(campaign.inputs(), 61U);
    EXPECT_GT(findings, 10U);
    EXPECT_LT(findings, 60U);
    for (const char *words : {"FOUND signal 11", "FOUND what must not be",
                              "FOUND a damaged file is accepted, with another result"})
        EXPECT_NE(printed.find(words), std::string::npos) << words << " not in:\n" << printed;
}

TEST(Campaign, IsTheSameForTheSameSeed)
{
    const fuzz::Inputs seeds = {"a", "b"};
    for (size_t i = 0; i < 20; i++) {
        const auto once = fuzz::make_mutant(fuzz::recipe_of(7, i, 2), seeds);
        const auto again = fuzz::make_mutant(fuzz::recipe_of(7, i, 2), seeds);
        EXPECT_EQ(once.bytes, again.bytes);
        EXPECT_EQ(once.changes, again.changes);
    }
}

// ---- the changes --------------------------------------------------------------------

Member member(const std::string &name, const std::string &contents)
{
    Member made;
    made.name = name;
    made.put(contents);
    return made;
}

Archive archive()
{
    Archive made;
    made.members = {member("a/data.pkl", "\x80\x02}q\x01."), member("a/code/x.py", "x = 1\n")};
    made.members[0].is_aligned = true;
    made.members[1].flags = 8;
    made.has_end64 = true;
    return made;
}

TEST(Zip, IsTakenApartAndPutTogetherTheSame)
{
    const std::string bytes = fuzz::put_together(archive());
    const auto again = fuzz::take_apart(bytes);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->members.size(), 2U);
    EXPECT_EQ(again->members[0].stored, archive().members[0].stored);
    EXPECT_EQ(again->members[1].name, "a/code/x.py");
    EXPECT_EQ(fuzz::put_together(*again), bytes);
}

TEST(Zip, AlignsAsPyTorchDoes)
{
    const std::string bytes = fuzz::put_together(archive());
    EXPECT_EQ(bytes.find(archive().members[0].stored) % 64, 0U);
}

TEST(Zip, KnowsTheCheckSumOfTheStandard)
{
    EXPECT_EQ(fuzz::crc_of("123456789"), 0xcbf43926U);
}

TEST(Zip, ABombIsSmall)
{
    const Member bomb = fuzz::bomb("data/0", 1 << 20);
    EXPECT_LT(bomb.stored.size(), 8000U);
    EXPECT_EQ(bomb.size, 1U << 20);
    EXPECT_EQ(bomb.crc, fuzz::crc_of(std::string(1 << 20, '\0')));
}

TEST(Zip, NoArchiveIsTakenApart)
{
    const std::string bytes = fuzz::put_together(archive());
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_FALSE(fuzz::take_apart(bytes.substr(0, size))) << size;
}

TEST(Pickle, IsSplitIntoOpcodes)
{
    const std::string pickle("\x80\x02(X\x02\0\0\0abK\x05\x8a\x01\x07"
                             "c__torch__\nM\nh\x01t.",
                             32);
    const auto opcodes = fuzz::opcodes_of(pickle);
    ASSERT_TRUE(opcodes);
    EXPECT_EQ(opcodes->size(), 9U);
    EXPECT_EQ((*opcodes)[5], "c__torch__\nM\n");
    EXPECT_FALSE(fuzz::opcodes_of("X\xff\xff\xff\xff"));
    EXPECT_FALSE(fuzz::opcodes_of("\x01"));
}

// Rewriting keeps the archive in order: what was changed is what its members hold.
TEST(Model, RewritingMakesCheckSumsFit)
{
    const std::string before = fuzz::put_together(archive());
    size_t in_order = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        std::string bytes = before;
        Random random(seed);
        fuzz::change_model(bytes, Family::rewriting, random, {before});
        const auto after = fuzz::take_apart(bytes);
        bool fits = after.has_value();
        for (const Member &each : after ? after->members : std::vector<Member>())
            fits = fits && (each.method != 0 || each.crc == fuzz::crc_of(each.stored));
        in_order += fits;
    }
    EXPECT_GT(in_order, 180U);
}

TEST(Model, DamageLeavesThemAsTheyWere)
{
    const std::string before = fuzz::put_together(archive());
    for (uint64_t seed = 0; seed < 200; seed++) {
        std::string bytes = before;
        Random random(seed);
        const std::string change = fuzz::change_model(bytes, Family::damage, random, {before});
        EXPECT_FALSE(change.empty());
    }
}

TEST(Text, StaysWithinItsWords)
{
    const fuzz::Language language = {{"word"}, 10};
    for (uint64_t seed = 0; seed < 200; seed++) {
        std::string text = "scale=16:8,null\n[a]split";
        Random random(seed);
        EXPECT_FALSE(fuzz::change_text(text, random, language, {text}).empty());
        EXPECT_LT(text.size(), 300U);
    }
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "harness",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = true,
    .seconds = 0.3,
    .memory = uint64_t{1} << 25, // filled in far less than those seconds
    .inputs_a_fork = 10,
};
