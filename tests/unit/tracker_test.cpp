// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Numbers that stay over frames, and the assignment behind them.
#include "host/detection/assignment.h"
#include "host/detection/tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace dnn_torch;

namespace
{

// ---- assignment ---------------------------------------------------------------

double sum_of(const PairWeights &weights, const std::vector<size_t> &columns)
{
    double sum = 0;
    for (size_t row = 0; row < weights.rows; row++)
        sum += columns[row] == unassigned ? 0 : weights.at(row, columns[row]);
    return sum;
}

double best_sum(const PairWeights &weights, size_t row, std::vector<bool> &taken)
{
    if (row == weights.rows)
        return 0;
    double best = best_sum(weights, row + 1, taken);
    for (size_t column = 0; column < weights.columns; column++) {
        if (taken[column] || weights.at(row, column) <= 0)
            continue;
        taken[column] = true;
        best = std::max(best, weights.at(row, column) + best_sum(weights, row + 1, taken));
        taken[column] = false;
    }
    return best;
}

void expect_each_once(const std::vector<size_t> &columns)
{
    std::set<size_t> seen;
    for (const size_t column : columns)
        EXPECT_TRUE(column == unassigned || seen.insert(column).second);
}

TEST(Assignment, PrefersTheSumToTheBestPair)
{
    // Greedily: 0.9 and 0. Together 0.8 and 0.7 are more.
    const PairWeights weights = {.rows = 2, .columns = 2, .values = {0.9, 0.8, 0.7, 0}};
    EXPECT_EQ(assign_best(weights), (std::vector<size_t>{1, 0}));
    EXPECT_EQ(assign_greedily({{0, 0, 0.9}, {0, 1, 0.8}, {1, 0, 0.7}}, 2, 2),
              (std::vector<size_t>{0, unassigned}));
}

TEST(Assignment, GivesNothingForNothing)
{
    EXPECT_EQ(assign_best({.rows = 2, .columns = 0}),
              (std::vector<size_t>{unassigned, unassigned}));
    EXPECT_TRUE(assign_best({.rows = 0, .columns = 3}).empty());
    EXPECT_EQ(assign_best({.rows = 1, .columns = 2, .values = {0, 0}}),
              (std::vector<size_t>{unassigned}));
}

TEST(Assignment, IsTheBestOfAll)
{
    std::mt19937 random(3);
    for (int i = 0; i < 500; i++) {
        PairWeights weights = {.rows = random() % 6, .columns = random() % 6};
        for (size_t k = 0; k < weights.rows * weights.columns; k++)
            weights.values.push_back(random() % 3 ? static_cast<double>(random() % 20) / 20 : 0);
        const std::vector<size_t> columns = assign_best(weights);
        ASSERT_EQ(columns.size(), weights.rows);
        expect_each_once(columns);
        std::vector<bool> taken(weights.columns);
        EXPECT_NEAR(sum_of(weights, columns), best_sum(weights, 0, taken), 1e-9);
    }
}

// ---- tracks -------------------------------------------------------------------

Detection thing(float x, float y, float extent = 20, int label = 0)
{
    return {.box = {x - extent / 2, y - extent / 2, x + extent / 2, y + extent / 2},
            .confidence = 0.9F,
            .label = label};
}

using Numbers = std::vector<int64_t>;

TEST(Tracks, KeepTheirNumbers)
{
    Tracker tracker;
    for (int frame = 0; frame < 50; frame++) {
        const auto x = static_cast<float>(frame * 3);
        const std::vector<Detection> found = {thing(x, 50), thing(200 - x, 150)};
        EXPECT_EQ(tracker.update(found), (Numbers{1, 2})) << frame;
    }
    // In another order, with a new one.
    EXPECT_EQ(tracker.update(std::vector{thing(300, 300), thing(50, 150), thing(150, 50)}),
              (Numbers{3, 2, 1}));
}

TEST(Tracks, OfDifferentClassesAreDifferent)
{
    Tracker tracker;
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50, 20, 1)}), (Numbers{1}));
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50, 20, 2)}), (Numbers{2}));
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50, 20, 2), thing(50, 50, 20, 1)}),
              (Numbers{2, 1}));
}

TEST(Tracks, CrossWithoutAnExchange)
{
    Tracker tracker;
    for (int frame = 0; frame < 40; frame++) {
        const auto x = static_cast<float>(frame * 4);
        EXPECT_EQ(tracker.update(std::vector{thing(x, 50, 30), thing(160 - x, 58, 30)}),
                  (Numbers{1, 2}))
            << frame;
    }
}

TEST(Tracks, MoveOnInFramesThatTheModelSkips)
{
    Tracker tracker;
    for (int frame = 0; frame <= 60; frame++) {
        const auto x = static_cast<float>(frame * 2);
        if (frame % 5 == 0) {
            EXPECT_EQ(tracker.update(std::vector{thing(x, 50)}), (Numbers{1})) << frame;
        } else {
            tracker.predict();
        }
        const std::optional<Box> box = tracker.box_of(1);
        ASSERT_TRUE(box);
        if (frame > 25) {
            EXPECT_NEAR((box->left + box->right) / 2, x, 1) << frame;
            EXPECT_NEAR(box->width(), 20, 0.5F);
        }
    }
}

TEST(Tracks, AreFoundAgainBehindAnObstacle)
{
    Tracker tracker({.lost_after = 10});
    for (int frame = 0; frame < 20; frame++)
        tracker.update(std::vector{thing(static_cast<float>(frame * 3), 50, 40)});
    for (int frame = 20; frame < 28; frame++)
        tracker.update({});
    EXPECT_TRUE(tracker.box_of(1));
    EXPECT_EQ(tracker.update(std::vector{thing(28 * 3, 50, 40)}), (Numbers{1}));
    for (int frame = 0; frame < 11; frame++)
        tracker.update({});
    EXPECT_FALSE(tracker.box_of(1));
    EXPECT_EQ(tracker.update(std::vector{thing(29 * 3, 50, 40)}), (Numbers{2}));
}

TEST(Tracks, AreNotLostWhileTheModelDoesNotLook)
{
    Tracker tracker({.lost_after = 5});
    tracker.update(std::vector{thing(50, 50)});
    for (int frame = 0; frame < 100; frame++)
        tracker.predict();
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50)}), (Numbers{1}));
}

TEST(Tracks, AreForgottenWithAnotherSize)
{
    Tracker tracker;
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50)}), (Numbers{1}));
    tracker.reset();
    EXPECT_FALSE(tracker.box_of(1));
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50)}), (Numbers{2}));
}

TEST(Tracks, TakeWhatIsNoNumber)
{
    constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
    Tracker tracker;
    Detection broken = thing(50, 50);
    broken.box.left = nan_value;
    EXPECT_EQ(tracker.update(std::vector{broken, thing(50, 50)}), (Numbers{1, 2}));
    EXPECT_FALSE(tracker.box_of(1));
    EXPECT_EQ(tracker.update(std::vector{thing(50, 50), broken}), (Numbers{2, 3}));
    // An extent of nothing stays a box.
    EXPECT_EQ(tracker.update(std::vector{thing(80, 80, 0)}), (Numbers{4}));
    for (int frame = 0; frame < 20; frame++)
        tracker.predict();
    EXPECT_GT(tracker.box_of(4)->width(), 0);
}

TEST(Tracks, OfTenThousandAreQuickAndStay)
{
    Tracker tracker;
    for (int frame = 0; frame < 4; frame++) {
        std::vector<Detection> found;
        Numbers expected;
        for (int i = 0; i < 10'000; i++) {
            const int column = i % 100, line = i / 100;
            found.push_back(thing(static_cast<float>(column * 25 + frame),
                                  static_cast<float>(line * 25), 20, i % 80));
            expected.push_back(i + 1);
        }
        EXPECT_EQ(tracker.update(found), expected);
    }
}

TEST(Tracks, AreTheSameEachTime)
{
    const auto numbers = [] {
        std::mt19937 random(5);
        Tracker tracker;
        Numbers all;
        for (int frame = 0; frame < 100; frame++) {
            std::vector<Detection> found;
            for (size_t i = random() % 30; i > 0; i--)
                found.push_back(thing(static_cast<float>(random() % 200),
                                      static_cast<float>(random() % 200), 40));
            const Numbers some = tracker.update(found);
            EXPECT_EQ(std::set(some.begin(), some.end()).size(), found.size());
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    };
    EXPECT_EQ(numbers(), numbers());
}

} // namespace
