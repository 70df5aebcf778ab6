// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline/size_rule.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

using dnn_torch::predict_output;
using dnn_torch::Size;

namespace dnn_torch
{

// For GoogleTest, which looks here.
void PrintTo(const Size &size, std::ostream *out);
void PrintTo(const Size &size, std::ostream *out)
{
    *out << size.width << "x" << size.height;
}

} // namespace dnn_torch

namespace
{

// A model of one dimension, applied to both.
struct Recorder {
    std::function<int(int)> model;
    int largest = 0;

    Size operator()(Size size)
    {
        largest = std::max({largest, size.width, size.height});
        return {model(size.width), model(size.height)};
    }
};

Size predict(Recorder &recorder, Size size)
{
    return predict_output(size, std::ref(recorder));
}

struct Rule {
    const char *name;
    int (*model)(int);
};

class SizeRules : public testing::TestWithParam<Rule>
{
};

TEST_P(SizeRules, ArePredictedFromSmallPictures)
{
    for (Size size : {Size{1920, 1080}, Size{1919, 1081}, Size{640, 367}, Size{4096, 200}}) {
        Recorder recorder{GetParam().model};
        EXPECT_EQ(predict(recorder, size),
                  (Size{GetParam().model(size.width), GetParam().model(size.height)}));
        EXPECT_LE(recorder.largest, 4 * dnn_torch::size_step);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, SizeRules,
                         testing::Values(Rule{"same", [](int x) { return x; }},
                                         Rule{"twice", [](int x) { return 2 * x; }},
                                         Rule{"thrice", [](int x) { return 3 * x; }},
                                         Rule{"fourfold", [](int x) { return 4 * x; }},
                                         Rule{"border", [](int x) { return x - 12; }},
                                         Rule{"twice_without_border",
                                              [](int x) { return 2 * (x - 7); }},
                                         Rule{"half_rounded_up", [](int x) { return (x + 1) / 2; }},
                                         Rule{"eighth_rounded_down", [](int x) { return x / 8; }},
                                         Rule{"whole_blocks", [](int x) { return x / 16 * 16; }},
                                         Rule{"one_and_a_half", [](int x) { return x * 3 / 2; }},
                                         Rule{"fixed", [](int) { return 224; }}),
                         [](const auto &parameter) { return std::string(parameter.param.name); });

TEST(SizeRule, SmallPicturesAreRunAsTheyAre)
{
    Recorder recorder{[](int x) { return x * x; }};
    EXPECT_EQ(predict(recorder, {7, 1}), (Size{49, 1}));
    EXPECT_EQ(recorder.largest, 7);
}

TEST(SizeRule, AModelThatRefusesSmallPicturesIsRunAtFullSize)
{
    Recorder recorder{[](int x) { return x < 500 ? throw std::runtime_error("small") : x / 2; }};
    EXPECT_EQ(predict(recorder, {640, 512}), (Size{320, 256}));
}

TEST(SizeRule, WhatIsNoLineIsRunAtFullSize)
{
    Recorder recorder{[](int x) { return x * x; }};
    EXPECT_EQ(predict(recorder, {500, 300}), (Size{250000, 90000}));
}

TEST(SizeRule, TheModelsOwnFaultComesOut)
{
    Recorder recorder{[](int) -> int { throw std::runtime_error("never"); }};
    EXPECT_THROW(predict(recorder, {640, 512}), std::runtime_error);
}

} // namespace
