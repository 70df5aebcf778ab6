// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/frames/class_maps.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace dnn_torch
{
namespace
{

// Maps in either order, and a frame that is a part of them.
struct Case {
    int classes;
    Size maps;
    MapWindow window;
    Size frame;
    bool is_interleaved;
};

struct Numbers {
    Case of;
    std::vector<float> scores;
    ClassMaps view;

    explicit Numbers(const Case &like) : of(like)
    {
        std::mt19937 random(7);
        std::normal_distribution<float> normal(0, 3);
        const ptrdiff_t pixels = ptrdiff_t{of.maps.width} * of.maps.height;
        for (ptrdiff_t i = 0; i < pixels * of.classes; i++)
            scores.push_back(normal(random));
        view = {.scores = scores.data(), .classes = of.classes, .size = of.maps};
        view.class_step = of.is_interleaved ? 1 : pixels;
        view.column_step = of.is_interleaved ? of.classes : 1;
        view.row_step = view.column_step * of.maps.width;
    }

    double score(int c, ptrdiff_t y, ptrdiff_t x) const
    {
        return view.scores[c * view.class_step + y * view.row_step + x * view.column_step];
    }

    // What bilinear interpolation is, said slowly.
    double interpolated(int c, int y, int x) const
    {
        const auto place = [](double begin, double extent, int i, int count, int limit) {
            const double at = begin + (i + 0.5) * extent / count - 0.5;
            return std::min(std::max(at, 0.0), limit - 1.0);
        };
        const double down =
            place(of.window.top, of.window.height, y, of.frame.height, of.maps.height);
        const double across =
            place(of.window.left, of.window.width, x, of.frame.width, of.maps.width);
        double sum = 0;
        for (int dy = 0; dy < 2; dy++)
            for (int dx = 0; dx < 2; dx++) {
                const double top = std::floor(down), left = std::floor(across);
                const double weight =
                    std::abs(1 - dy - (down - top)) * std::abs(1 - dx - (across - left));
                if (weight > 0)
                    sum += weight * score(c, static_cast<ptrdiff_t>(top) + dy,
                                          static_cast<ptrdiff_t>(left) + dx);
            }
        return sum;
    }
};

const Case cases[] = {
    {21, {16, 12}, {0, 0, 16, 12}, {16, 12}, false}, {21, {16, 12}, {0, 0, 16, 12}, {16, 12}, true},
    {5, {16, 12}, {0, 0, 16, 12}, {64, 48}, false},  {5, {16, 12}, {2, 1.5, 13, 9}, {39, 27}, true},
    {3, {40, 30}, {0, 0, 37, 29}, {37, 29}, false},  {2, {1, 1}, {0, 0, 1, 1}, {7, 5}, false},
    {150, {9, 7}, {0, 0, 9, 7}, {3, 2}, false},
};

TEST(ClassRows, TellTheLikeliestClass)
{
    for (const Case &each : cases) {
        const Numbers numbers(each);
        ClassRows rows(numbers.view, each.window, each.frame);
        std::vector<uint16_t> row(static_cast<size_t>(each.frame.width));
        for (int y = 0; y < each.frame.height; y++) {
            rows.likeliest(y, row.data());
            for (int x = 0; x < each.frame.width; x++) {
                const int found = row[static_cast<size_t>(x)];
                for (int c = 0; c < each.classes; c++)
                    EXPECT_GE(numbers.interpolated(found, y, x) + 1e-4,
                              numbers.interpolated(c, y, x))
                        << c << " at " << x << "," << y;
            }
        }
    }
}

TEST(ClassRows, ShareIsSoftmax)
{
    for (const Case &each : cases) {
        const Numbers numbers(each);
        ClassRows rows(numbers.view, each.window, each.frame);
        std::vector<bool> chosen(static_cast<size_t>(each.classes));
        chosen[1] = true;
        std::vector<float> row(static_cast<size_t>(each.frame.width));
        for (int y = 0; y < each.frame.height; y++) {
            rows.share(y, chosen, row.data());
            for (int x = 0; x < each.frame.width; x++) {
                double sum = 0;
                for (int c = 0; c < each.classes; c++)
                    sum += std::exp(numbers.interpolated(c, y, x));
                EXPECT_NEAR(row[static_cast<size_t>(x)],
                            std::exp(numbers.interpolated(1, y, x)) / sum, 1e-4);
            }
        }
    }
}

TEST(ClassRows, SharesOfOneStayAsTheyAre)
{
    const std::vector<float> scores = {0.25F, 0.5F, 0.75F, 0.5F};
    const ClassMaps maps = {.scores = scores.data(),
                            .classes = 2,
                            .size = {2, 1},
                            .class_step = 2,
                            .row_step = 2,
                            .column_step = 1};
    ClassRows rows(maps, {0, 0, 2, 1}, {2, 1});
    float row[2];
    rows.share(0, {false, true}, row);
    EXPECT_FLOAT_EQ(row[0], 0.75F);
    EXPECT_FLOAT_EQ(row[1], 0.5F);
}

TEST(ClassRows, OneMapIsThereOrNot)
{
    std::vector<float> scores = {0.25F, 0.75F};
    const ClassMaps maps = {.scores = scores.data(),
                            .classes = 1,
                            .size = {2, 1},
                            .class_step = 2,
                            .row_step = 2,
                            .column_step = 1};
    uint16_t row[2];
    ClassRows(maps, {0, 0, 2, 1}, {2, 1}).likeliest(0, row);
    EXPECT_EQ(row[0], 0);
    EXPECT_EQ(row[1], 1);
    scores = {-2.0F, 0.25F}; // before the sigmoid
    ClassRows(maps, {0, 0, 2, 1}, {2, 1}).likeliest(0, row);
    EXPECT_EQ(row[0], 0);
    EXPECT_EQ(row[1], 1);
}

TEST(ClassRows, NumbersStayWhole)
{
    const std::vector<int64_t> numbers = {0, 3, -1, 70000, 255, 256};
    const ClassMaps maps = {.numbers = numbers.data(),
                            .classes = 1,
                            .size = {3, 2},
                            .class_step = 6,
                            .row_step = 3,
                            .column_step = 1};
    ClassRows rows(maps, {0, 0, 3, 2}, {6, 4});
    uint16_t row[6];
    rows.likeliest(1, row);
    EXPECT_EQ(std::vector<int>(row, row + 6), (std::vector<int>{0, 0, 3, 3, 0, 0}));
    rows.likeliest(3, row);
    EXPECT_EQ(std::vector<int>(row, row + 6), (std::vector<int>{0, 0, 255, 255, 256, 256}));
    float share[6];
    rows.share(3, std::vector<bool>(256, true), share);
    EXPECT_EQ(share[2], 1.0F);
    EXPECT_EQ(share[5], 0.0F);
}

TEST(ClassRows, NanIsNoClass)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> scores = {nan, 1.0F, nan, nan, 2.0F, 2.0F};
    const ClassMaps maps = {.scores = scores.data(),
                            .classes = 3,
                            .size = {2, 1},
                            .class_step = 2,
                            .row_step = 2,
                            .column_step = 1};
    ClassRows rows(maps, {0, 0, 2, 1}, {2, 1});
    uint16_t row[2];
    rows.likeliest(0, row);
    EXPECT_EQ(row[0], 2);
    EXPECT_EQ(row[1], 2);
    float share[2];
    rows.share(0, {true, false, false}, share);
    for (const float each : share)
        EXPECT_TRUE(each >= 0 && each <= 1) << each;
}

TEST(ClassRows, ScoresOfNoWeightDoNotCount)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> scores = {0, 0, 0, 5, 5, -infinity};
    const ClassMaps maps = {.scores = scores.data(),
                            .classes = 2,
                            .size = {3, 1},
                            .class_step = 3,
                            .row_step = 3,
                            .column_step = 1};
    ClassRows rows(maps, {0, 0, 3, 1}, {3, 1});
    uint16_t row[3];
    rows.likeliest(0, row);
    EXPECT_EQ(row[0], 1);
    EXPECT_EQ(row[1], 1); // beside the infinite one
    EXPECT_EQ(row[2], 0);
}

} // namespace
} // namespace dnn_torch
