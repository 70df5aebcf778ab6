// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Model files that were made to do harm; hostile_models.py says what is wrong with each.
#include "engine_torch_models.h"

#include <cmath>
#include <fstream>
#include <malloc.h>
#include <sstream>
#include <unistd.h>

namespace
{

struct Expected {
    std::string name;
    std::vector<std::string> words;
};

std::vector<Expected> all_expected()
{
    std::ifstream file(models_folder() + "/hostile/expected.txt");
    std::vector<Expected> all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        Expected expected;
        std::getline(fields, expected.name, '\t');
        for (std::string word; std::getline(fields, word, '\t');)
            expected.words.push_back(word);
        all.push_back(expected);
    }
    return all;
}

std::string hostile(const std::string &name)
{
    return path_of("hostile/" + name);
}

TEST(Door, OpensWhatIsWholeAndNothingElse)
{
    const std::vector<Expected> all = all_expected();
    EXPECT_GT(all.size(), 60U);
    for (const Expected &expected : all) {
        SCOPED_TRACE(expected.name);
        const std::string path = hostile(expected.name);
        const Model model(options_for(path));
        if (expected.words == std::vector<std::string>{"ok"})
            EXPECT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
        else
            expect_failure(model.opened, DNN_TORCH_BAD_MODEL, expected.words);
    }
    EXPECT_NE(access("written-by-the-model", F_OK), 0);
}

TEST(Door, IsTheSameForWhoOnlyLooks)
{
    for (const Expected &expected : all_expected()) {
        SCOPED_TRACE(expected.name);
        const std::string path = hostile(expected.name);
        Options options = options_for(path);
        options.inspect = "1";
        Model model(options);
        const Outcome described = model.opened;
        const bool is_fine = expected.words == std::vector<std::string>{"ok"};
        EXPECT_TRUE(!is_fine || described.status == DNN_TORCH_OK) << described.message;
        // What is refused for what it would do is told, or the whole file is.
        EXPECT_EQ(described.status == DNN_TORCH_OK && model.metadata("refused").empty(), is_fine);
    }
    EXPECT_NE(access("written-by-the-model", F_OK), 0);
}

TEST(Door, OpensForWhoSaysSo)
{
    Options options = {};
    const std::string path = hostile("operator_strided");
    options.path = path.c_str();
    for (const char *allow :
         {"as_strided", "aten::as_strided", "nosuch+aten.as_strided", "aten.*"}) {
        options.allow = allow;
        EXPECT_EQ(Model(options).opened.status, DNN_TORCH_OK) << allow;
    }
    EXPECT_EQ(Model(options).notice(), "");
    options.allow = "nosuch+as_strided";
    EXPECT_NE(Model(options).notice().find("allow=nosuch names nothing"), std::string::npos);
    options.allow = "as_stride";
    EXPECT_EQ(Model(options).opened.status, DNN_TORCH_BAD_MODEL);
    options.allow = "as-strided";
    expect_failure(Model(options).opened, DNN_TORCH_BAD_OPTION, {"allow", "plus sign"});
}

TEST(Door, TakesAllLayersOfPyTorch)
{
    const std::string path = path_of("catalogue");
    const Model model(options_for(path, "0"));
    EXPECT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
}

TEST(Door, MemoryAsItComesIsZero)
{
    Running running("hostile/raw_memory");
    for (int round = 0; round < 3; round++) {
        const Pictures pictures(1, 3, 300 + round, 400);
        for (const float value : run(running, pictures))
            ASSERT_EQ(value, 0.0F);
    }
}

// What other parts of the program left in freed memory differs from run to run.
std::vector<float> run_over(int left_behind, Running &running, const Pictures &pictures)
{
    mallopt(M_PERTURB, left_behind);
    const Outcome outcome = running.session.run(pictures);
    mallopt(M_PERTURB, 0);
    return outcome.status == DNN_TORCH_OK ? samples_of(running.session.output)
                                          : std::vector<float>();
}

TEST(Door, NoArgumentLeadsToForeignMemory)
{
    int tried = 0;
    for (const Expected &expected : all_expected()) {
        if (expected.name.rfind("argument_", 0) != 0)
            continue;
        SCOPED_TRACE(expected.name);
        Running running("hostile/" + expected.name, "0");
        const Pictures pictures(1, 3, 8, 8);
        EXPECT_EQ(run_over(0x55, running, pictures), run_over(0xaa, running, pictures));
        tried++;
    }
    EXPECT_GE(tried, 10);
}

TEST(Door, BoundsChangeNoSoundArgument)
{
    Running running("hostile/argument_norm_usual", "0");
    const Pictures pictures(1, 3, 8, 8);
    EXPECT_LT(difference(run(running, pictures), times(pictures.samples, 8 / std::sqrt(2.0F))),
              1e-5F);
}

TEST(Door, ANumberIsATypeOrTheRunFails)
{
    const Pictures pictures(1, 3, 8, 8);
    for (const char *name : {"eye_99", "sum_262", "zeros_18", "cast_minus_1", "computed"}) {
        SCOPED_TRACE(name);
        Running running(std::string("hostile/argument_type_") + name, "0");
        const Outcome outcome = running.session.run(pictures);
        EXPECT_EQ(outcome.status, DNN_TORCH_RUN_FAILED);
        EXPECT_NE(outcome.message.find("is not the number of a tensor type"), std::string::npos)
            << outcome.message;
    }
    Running usual("hostile/argument_type_usual", "0");
    EXPECT_LT(difference(run(usual, pictures), times(pictures.samples, 3)), 1e-5F);
}

TEST(Door, NoControlCharacterGetsOut)
{
    Running running("hostile/raises_escapes");
    const Outcome result = running.session.run(Pictures(1, 3, 8, 8));
    EXPECT_EQ(result.status, DNN_TORCH_RUN_FAILED);
    EXPECT_NE(result.message.find("a\\x1b]0;title\\x07\\xc2\\x9bred"), std::string::npos)
        << result.message;
}

// A bit anywhere: either the file is refused, or the bit was one of no meaning.
TEST(Door, OneBitAnywhere)
{
    std::ifstream file(path_of("net_relu"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    const std::string path = testing::TempDir() + "one-bit.pt";
    const Pictures pictures(1, 3, 16, 16);
    Running right("net_relu", "0");
    const std::vector<float> expected = run(right, pictures);
    int accepted = 0, tried = 0;
    for (size_t at = 0; at < whole.size(); at += 13, tried++) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
        std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
        Model model(options_for(path, "0"));
        if (model.opened.status != DNN_TORCH_OK)
            continue;
        accepted++;
        Session session(model);
        EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
        EXPECT_EQ(samples_of(session.output), expected) << "byte " << at;
    }
    // Padding between the records.
    EXPECT_LT(accepted, tried / 2);
    unlink(path.c_str());
}

} // namespace
