// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What users want of a detector, frame by frame, and boxes on their way into the frame.
#include "host/error.h"
#include "host/frames/placement.h"
#include "host/tasks/detect_parameters.h"
#include "host/tasks/detect_session.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <string>
#include <thread>

using namespace dnn_torch;

namespace
{

const ClassNames three = {.labels = {"person", "car", "12"}, .count = 20};

std::string refusal_of(const std::vector<std::string> &wanted, const ClassNames &names)
{
    try {
        check_classes(wanted, names);
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

DetectParameters sure(float confidence)
{
    return {.confidence = confidence, .suppression = {}, .classes = {}};
}

Detection at(const Box &box)
{
    return {.box = box, .confidence = 1};
}

} // namespace

TEST(Classes, NamesComeBeforeNumbers)
{
    EXPECT_TRUE(WantedClasses({}, three).has(7));
    const WantedClasses both({"car", "7"}, three);
    EXPECT_TRUE(both.has(1) && both.has(7));
    EXPECT_FALSE(both.has(0) || both.has(2));
    const WantedClasses named({"12"}, three);
    EXPECT_TRUE(named.has(2));
    EXPECT_FALSE(named.has(12));
    EXPECT_FALSE(WantedClasses({"nobody"}, three).has(0));
}

TEST(Classes, SeveralOfOneName)
{
    const WantedClasses wanted({"thing"}, {.labels = {"thing", "other", "thing"}});
    EXPECT_TRUE(wanted.has(0) && wanted.has(2));
    EXPECT_FALSE(wanted.has(1));
}

TEST(Classes, UnknownOnesAreRefused)
{
    EXPECT_EQ(refusal_of({"car", "19"}, three), "");
    EXPECT_NE(refusal_of({"cat"}, three).find("knows 3: person, car, 12"), std::string::npos);
    EXPECT_NE(refusal_of({"20"}, three), "");
    EXPECT_NE(refusal_of({"-1"}, three), "");
    EXPECT_EQ(refusal_of({"12345"}, {}), "");
    EXPECT_NE(refusal_of({"cat"}, {.labels = {}, .count = 80}).find("from 0 to 79"),
              std::string::npos);
    EXPECT_NE(refusal_of({"\x1b[31m"}, {}), "");
    EXPECT_EQ(refusal_of({"\x1b[31m"}, {}).find('\x1b'), std::string::npos);
}

TEST(Parameters, HoldFromTheNextFrame)
{
    TimedParameters<DetectParameters> parameters(sure(0.1F));
    parameters.begin(0);
    parameters.begin(1);
    parameters.set(sure(0.2F));
    EXPECT_FLOAT_EQ(parameters.latest()->confidence, 0.2F);
    EXPECT_FLOAT_EQ(parameters.at(1)->confidence, 0.1F);
    parameters.begin(2);
    parameters.set(sure(0.3F));
    parameters.set(sure(0.4F));
    parameters.begin(3);
    EXPECT_FLOAT_EQ(parameters.at(1)->confidence, 0.1F);
    EXPECT_FLOAT_EQ(parameters.at(2)->confidence, 0.2F);
    EXPECT_FLOAT_EQ(parameters.at(3)->confidence, 0.4F);
    parameters.end(0);
    parameters.end(1);
    EXPECT_FLOAT_EQ(parameters.at(2)->confidence, 0.2F);
    parameters.end(2);
    parameters.end(3);
    EXPECT_FLOAT_EQ(parameters.at(100)->confidence, 0.4F);
}

TEST(Parameters, ThreadsAsWhileTheyChange)
{
    TimedParameters<DetectParameters> parameters(sure(0));
    std::atomic<int64_t> begun{0}, asked{0};
    std::jthread reader([&] {
        for (int64_t frame = 0; frame < 2000; frame = begun) {
            EXPECT_LE(parameters.at(frame)->confidence, static_cast<float>(frame));
            asked = frame;
        }
    });
    for (int64_t frame = 1; frame <= 2000; frame++) {
        parameters.set(sure(static_cast<float>(frame)));
        parameters.begin(frame);
        begun = frame;
        if (const int64_t over = asked - 1; over >= 0)
            parameters.end(over);
    }
}

TEST(IntoFrame, ScaledAndCutOff)
{
    const Placement placement = place({1280, 720}, {640, 640}, Placing::letterbox);
    Detection whole = at({-10, 100, 700, 600});
    EXPECT_TRUE(bring_into_frame(placement, {1280, 720}, whole));
    EXPECT_EQ(whole.box, (Box{0, 0, 1280, 720}));
    Detection part = at({320, 140, 330, 150});
    EXPECT_TRUE(bring_into_frame(placement, {1280, 720}, part));
    EXPECT_EQ(part.box, (Box{640, 0, 660, 20}));
}

TEST(IntoFrame, WhatIsHardlyThereIsDropped)
{
    const Placement placement = place({64, 64}, {64, 64}, Placing::stretch);
    for (const Box &box : {Box{-20, 0, -1, 10}, Box{63.6F, 0, 90, 10}, Box{5, 5, 5.4F, 10},
                           Box{5, 70, 10, 90}, Box{-5, -5, 0, 0}}) {
        Detection thin = at(box);
        EXPECT_FALSE(bring_into_frame(placement, {64, 64}, thin));
    }
    Detection half = at({5, 5, 5.5F, 10});
    EXPECT_TRUE(bring_into_frame(placement, {64, 64}, half));
}

TEST(IntoFrame, TurnedBoxesAndKeyPoints)
{
    const Placement placement = place({200, 100}, {100, 100}, Placing::stretch);
    Detection turned = at({10, 10, 30, 30});
    turned.turned = {.middle_x = 20,
                     .middle_y = 20,
                     .width = 10,
                     .height = 4,
                     .angle = std::numbers::pi_v<float> / 2};
    turned.key_points = {{.x = 50, .y = 50}};
    EXPECT_TRUE(bring_into_frame(placement, {200, 100}, turned));
    EXPECT_NEAR(turned.turned->middle_x, 40, 1e-4);
    EXPECT_NEAR(turned.turned->width, 10, 1e-4); // it stands upright
    EXPECT_NEAR(turned.turned->height, 8, 1e-4);
    EXPECT_FLOAT_EQ(turned.key_points[0].x, 100);
    EXPECT_FLOAT_EQ(turned.key_points[0].y, 50);
}
