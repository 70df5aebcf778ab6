// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_tool/find_sizes.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace dnn_torch;

namespace
{

FoundSizes find(const TrySize &model)
{
    auto found = find_sizes(model, 60);
    EXPECT_TRUE(found && found->complete);
    return found.value_or(FoundSizes{});
}

// A model that takes what `accepts` says, and enlarges.
template <class Accepts> TrySize enlarging(int factor, const Accepts &accepts)
{
    return [=](Size size) -> std::optional<Size> {
        if (!accepts(size))
            return std::nullopt;
        return Size{size.width * factor, size.height * factor};
    };
}

TEST(FindSizes, Any)
{
    FoundSizes found = find(enlarging(3, [](Size) { return true; }));
    EXPECT_EQ(sizes_in_words(found), "any, from 1x1");
    EXPECT_EQ(scale_in_words(found), "3 (64x64 becomes 192x192)");
}

TEST(FindSizes, SmallestOfEachExtent)
{
    for (int least : {2, 3, 17, 63, 64}) {
        FoundSizes found = find(enlarging(
            1, [=](Size size) { return size.width >= least && size.height >= least / 2 + 1; }));
        EXPECT_EQ(found.width, (ExtentRule{1, least}));
        EXPECT_EQ(found.height, (ExtentRule{1, least / 2 + 1}));
    }
}

TEST(FindSizes, Multiples)
{
    for (int step : {2, 3, 4, 7, 8, 32, 64}) {
        FoundSizes found = find(enlarging(
            2, [=](Size size) { return size.width % step == 0 && size.height % step == 0; }));
        EXPECT_EQ(found.width, (ExtentRule{step, step})) << step;
        EXPECT_EQ(found.across, (ExtentScale{2, 1, 0, false})) << step;
        EXPECT_EQ(found.across, found.down);
    }
}

TEST(FindSizes, WordsForMultiples)
{
    auto words = [](int across, int down) {
        return sizes_in_words(find(enlarging(
            1, [=](Size size) { return size.width % across == 0 && size.height % down == 0; })));
    };
    EXPECT_EQ(words(2, 2), "even ones only, from 2x2");
    EXPECT_EQ(words(4, 4), "multiples of 4, from 4x4");
    EXPECT_EQ(words(1, 8), "width any, height multiples of 8, from 1x8");
}

TEST(FindSizes, OneMoreThanMultiples)
{
    FoundSizes found =
        find(enlarging(1, [](Size size) { return size.width % 8 == 1 && size.height % 8 == 1; }));
    EXPECT_EQ(found.tried, (Size{65, 65}));
    EXPECT_EQ(sizes_in_words(found), "multiples of 8 and 1 more, from 1x1");
    EXPECT_EQ(fit_size(found, {640, 360}), (Size{633, 353}));
}

// PP-OCR's detection takes 61 to 64, 93 to 96, and so on.
TEST(FindSizes, MultiplesAndALittleBelow)
{
    const auto takes = [](int extent) { return extent > 32 && (extent + 3) % 32 < 4; };
    FoundSizes found =
        find(enlarging(1, [=](Size size) { return takes(size.width) && takes(size.height); }));
    EXPECT_EQ(found.width, (ExtentRule{32, 64}));
    EXPECT_EQ(found.height, (ExtentRule{32, 64}));
}

// Sizes that end soon are told all the same.
TEST(FindSizes, MultiplesUpToALimit)
{
    FoundSizes found = find(enlarging(1, [](Size size) {
        return size.width % 16 == 0 && size.width <= 128 && size.height <= 128;
    }));
    EXPECT_EQ(found.width, (ExtentRule{16, 16}));
    EXPECT_EQ(found.height, (ExtentRule{1, 1}));
}

TEST(FindSizes, OneAlone)
{
    FoundSizes found = find(enlarging(4, [](Size size) { return size == Size{320, 240}; }));
    EXPECT_EQ(sizes_in_words(found), "320x240 only, as far as was tried");
    EXPECT_EQ(scale_in_words(found), "320x240 becomes 1280x960");
    EXPECT_EQ(fit_size(found, {640, 360}), (Size{320, 240}));
}

TEST(FindSizes, TheOneThatIsNamed)
{
    auto model = enlarging(1, [](Size size) { return size.width > 90 && size.height == 77; });
    EXPECT_FALSE(find_sizes(model, 60));
    auto found = find_sizes(model, 60, Size{100, 77});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->width, (ExtentRule{1, 91}));
    EXPECT_EQ(found->height, (ExtentRule{0, 77}));
}

TEST(FindSizes, None)
{
    EXPECT_FALSE(find_sizes([](Size) { return std::nullopt; }, 60));
}

TEST(FindSizes, Scales)
{
    auto words = [](auto &&rule) {
        return scale_in_words(find([=](Size size) -> std::optional<Size> {
            Size made = {rule(size.width), rule(size.height)};
            return made.width > 0 && made.height > 0 ? std::optional(made) : std::nullopt;
        }));
    };
    EXPECT_EQ(words([](int extent) { return extent - 4; }), "1, less 4 (64x64 becomes 60x60)");
    EXPECT_EQ(words([](int extent) { return 2 * extent + 6; }),
              "2, plus 6 (64x64 becomes 134x134)");
    EXPECT_EQ(words([](int extent) { return (extent + 1) / 2; }),
              "1/2, rounded (64x64 becomes 32x32)");
    EXPECT_EQ(words([](int extent) { return extent / 8 * 8; }), "1, rounded (64x64 becomes 64x64)");
    EXPECT_EQ(words([](int) { return 24; }), "always 24x24");
}

TEST(FindSizes, ScalesThatDiffer)
{
    FoundSizes found = find([](Size size) { return Size{size.width * 2, size.height}; });
    EXPECT_EQ(scale_in_words(found), "2 across, 1 down (64x64 becomes 128x64)");
}

TEST(FindSizes, SlowModelsAreNotTriedForLong)
{
    int runs = 0;
    auto found = find_sizes(
        [&](Size size) {
            runs++;
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            return size;
        },
        0.5);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->complete);
    EXPECT_LE(runs, 3);
    EXPECT_NE(sizes_in_words(*found).find("too slow"), std::string::npos);
    EXPECT_EQ(fit_size(*found, {640, 360}), (Size{64, 64}));
}

} // namespace
