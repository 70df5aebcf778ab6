// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Scores of classifiers, in tensors made by hand, and which parts of frames are shown to them.
#include "host/error.h"
#include "host/findings/scores.h"
#include "host/tasks/classify_parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

DnnTorchTensor tensor_of(const std::vector<int64_t> &dims, std::vector<float> *values = nullptr)
{
    DnnTorchTensor tensor = {};
    tensor.size = sizeof(tensor);
    tensor.data = values ? values->data() : nullptr;
    tensor.type = DNN_TORCH_F32;
    tensor.rank = static_cast<int32_t>(dims.size());
    int64_t stride = sizeof(float);
    for (size_t axis = dims.size(); axis-- > 0;) {
        tensor.dims[axis] = dims[axis];
        tensor.strides[axis] = stride;
        stride *= dims[axis];
    }
    return tensor;
}

Scores view_of(const std::vector<float> &values)
{
    return {.data = reinterpret_cast<const char *>(values.data()),
            .count = static_cast<int64_t>(values.size()),
            .step = sizeof(float)};
}

std::vector<int64_t> numbers_of(const std::vector<ClassScore> &classes)
{
    std::vector<int64_t> numbers;
    for (const ClassScore &each : classes)
        numbers.push_back(each.number);
    return numbers;
}

} // namespace

// ---- which tensor has the scores --------------------------------------------------

TEST(FindScores, takes_one_number_for_each_class_and_picture)
{
    const std::vector<std::pair<std::vector<int64_t>, int64_t>> fitting = {
        {{2, 10}, 10},       {{2, 10, 1, 1}, 10}, {{2, 1, 10}, 10}, {{2, 10, 1}, 10},
        {{2, 1, 1, 10}, 10}, {{2, 1}, 1},         {{2}, 1},         {{2, 1, 1, 1}, 1},
    };
    for (const auto &[dims, classes] : fitting) {
        const DnnTorchTensor tensor = tensor_of(dims);
        EXPECT_EQ(find_scores({&tensor, 1}, 2), (ScoreTensor{.place = 0, .classes = classes}))
            << dims.size();
    }
}

TEST(FindScores, takes_a_list_of_scores_for_one_picture)
{
    const DnnTorchTensor tensor = tensor_of({10});
    EXPECT_EQ(find_scores({&tensor, 1}, 1), (ScoreTensor{.place = 0, .classes = 10}));
    EXPECT_EQ(find_scores({&tensor, 1}, 2), std::nullopt);
}

TEST(FindScores, refuses_pictures_boxes_and_numbers_of_classes)
{
    for (const std::vector<int64_t> &dims :
         {std::vector<int64_t>{1, 3, 64, 64}, {1, 84, 8400}, {2, 10}, {1, 0}, {}, {1, 10, 2, 1}}) {
        const DnnTorchTensor tensor = tensor_of(dims);
        EXPECT_EQ(find_scores({&tensor, 1}, 1), std::nullopt) << dims.size();
    }
    DnnTorchTensor whole = tensor_of({1, 10});
    whole.type = DNN_TORCH_I64;
    EXPECT_EQ(find_scores({&whole, 1}, 1), std::nullopt);
}

TEST(FindScores, takes_the_first_that_fits)
{
    const DnnTorchTensor tensors[] = {tensor_of({1, 197, 768}), tensor_of({1, 10}),
                                      tensor_of({1, 20})};
    EXPECT_EQ(find_scores(tensors, 1), (ScoreTensor{.place = 1, .classes = 10}));
}

TEST(ScoresOf, are_those_of_the_picture)
{
    std::vector<float> values = {1, 2, 3, 4, 5, 6};
    const DnnTorchTensor tensor = tensor_of({2, 3, 1, 1}, &values);
    const Scores second = scores_of({&tensor, 1}, {.place = 0, .classes = 3}, 2, 1);
    ASSERT_EQ(second.count, 3);
    EXPECT_EQ(second.at(0), 4);
    EXPECT_EQ(second.at(2), 6);
}

TEST(ScoresOf, follow_strides)
{
    std::vector<float> values = {1, 2, 3, 4, 5, 6};
    DnnTorchTensor tensor = tensor_of({2, 3}, &values);
    tensor.strides[0] = sizeof(float); // transposed
    tensor.strides[1] = 2 * sizeof(float);
    const Scores second = scores_of({&tensor, 1}, {.place = 0, .classes = 3}, 2, 1);
    EXPECT_EQ(second.at(0), 2);
    EXPECT_EQ(second.at(1), 4);
    EXPECT_EQ(second.at(2), 6);
}

TEST(ScoresOf, one_class_of_each_picture)
{
    std::vector<float> values = {1, 2};
    const DnnTorchTensor tensor = tensor_of({2}, &values);
    const Scores second = scores_of({&tensor, 1}, {.place = 0, .classes = 1}, 2, 1);
    ASSERT_EQ(second.count, 1);
    EXPECT_EQ(second.at(0), 2);
}

TEST(ScoresOf, refuse_tensors_that_have_changed)
{
    std::vector<float> values = {1, 2, 3};
    const DnnTorchTensor tensor = tensor_of({1, 3}, &values), empty = tensor_of({1, 3});
    const ScoreTensor other = {.place = 0, .classes = 4}, further = {.place = 1, .classes = 3},
                      same = {.place = 0, .classes = 3};
    EXPECT_THROW(scores_of({&tensor, 1}, other, 1, 0), Error);
    EXPECT_THROW(scores_of({&tensor, 1}, further, 1, 0), Error);
    EXPECT_THROW(scores_of({&tensor, 1}, same, 2, 0), Error);
    EXPECT_THROW(scores_of({&tensor, 1}, same, 1, 1), Error);
    EXPECT_THROW(scores_of({&tensor, 1}, same, 1, -1), Error);
    EXPECT_THROW(scores_of({&empty, 1}, same, 1, 0), Error);
    EXPECT_THROW(scores_of({}, same, 1, 0), Error);
}

// ---- what scores mean ---------------------------------------------------------------

TEST(KindOf, shares_of_one_are_plain)
{
    EXPECT_EQ(kind_of(view_of({0.25F, 0.5F, 0.25F})), ScoreKind::plain);
    EXPECT_EQ(kind_of(view_of({0.25F, 0.505F, 0.25F})), ScoreKind::plain); // rounded
    EXPECT_EQ(kind_of(view_of({1, 0, nan_value})), ScoreKind::plain);
}

TEST(KindOf, all_else_is_softmax)
{
    EXPECT_EQ(kind_of(view_of({0.5F, 0.75F})), ScoreKind::softmax);
    EXPECT_EQ(kind_of(view_of({2, -1})), ScoreKind::softmax);
    EXPECT_EQ(kind_of(view_of({nan_value, nan_value})), ScoreKind::softmax);
}

TEST(KindOf, a_single_score)
{
    EXPECT_EQ(kind_of(view_of({0.25F})), ScoreKind::plain);
    EXPECT_EQ(kind_of(view_of({-3})), ScoreKind::sigmoid);
}

TEST(Likeliest, softmax)
{
    const auto classes = likeliest(view_of({0, std::log(3.0F), std::log(4.0F)}),
                                   {.kind = ScoreKind::softmax, .top = 2});
    ASSERT_EQ(classes.size(), 2U);
    EXPECT_EQ(classes[0].number, 2);
    EXPECT_NEAR(classes[0].confidence, 0.5, 1e-6);
    EXPECT_EQ(classes[1].number, 1);
    EXPECT_NEAR(classes[1].confidence, 0.375, 1e-6);
}

TEST(Likeliest, softmax_of_large_logits)
{
    const auto classes =
        likeliest(view_of({1000, -1000, 1000}), {.kind = ScoreKind::softmax, .top = 3});
    EXPECT_EQ(numbers_of(classes), (std::vector<int64_t>{0, 2, 1}));
    EXPECT_NEAR(classes[0].confidence, 0.5, 1e-6);
    EXPECT_NEAR(classes[2].confidence, 0, 1e-6);
}

TEST(Likeliest, sigmoid)
{
    const auto classes =
        likeliest(view_of({std::log(3.0F), 0, -100, 100}), {.kind = ScoreKind::sigmoid, .top = 4});
    EXPECT_EQ(numbers_of(classes), (std::vector<int64_t>{3, 0, 1, 2}));
    EXPECT_NEAR(classes[0].confidence, 1, 1e-6);
    EXPECT_NEAR(classes[1].confidence, 0.75, 1e-6);
    EXPECT_NEAR(classes[2].confidence, 0.5, 1e-6);
    EXPECT_NEAR(classes[3].confidence, 0, 1e-6);
}

TEST(Likeliest, plain_and_automatic)
{
    const std::vector<ClassScore> expected = {{1, 0.75F}, {0, 0.25F}};
    EXPECT_EQ(likeliest(view_of({0.25F, 0.75F}), {.kind = ScoreKind::plain, .top = 4}), expected);
    EXPECT_EQ(likeliest(view_of({0.25F, 0.75F}), {.top = 4}), expected);
    const auto logits = likeliest(view_of({0, std::log(3.0F)}), {.top = 1});
    ASSERT_EQ(logits.size(), 1U);
    EXPECT_NEAR(logits[0].confidence, 0.75, 1e-6);
}

TEST(Likeliest, equal_scores_keep_their_order)
{
    EXPECT_EQ(numbers_of(likeliest(view_of({1, 2, 2, 1, 2}), {.top = 4})),
              (std::vector<int64_t>{1, 2, 4, 0}));
    // Sigmoids of both round to 1.
    EXPECT_EQ(numbers_of(likeliest(view_of({50, 60}), {.kind = ScoreKind::sigmoid, .top = 2})),
              (std::vector<int64_t>{1, 0}));
}

TEST(Likeliest, what_is_no_number_is_left_out)
{
    const std::vector<float> scores = {nan_value, 0, infinite, -infinite, 0};
    const auto classes = likeliest(view_of(scores), {.kind = ScoreKind::softmax, .top = 5});
    EXPECT_EQ(numbers_of(classes), (std::vector<int64_t>{1, 4}));
    EXPECT_NEAR(classes[0].confidence, 0.5, 1e-6);
    EXPECT_TRUE(has_nan(view_of(scores)));
    EXPECT_FALSE(has_nan(view_of({0, infinite})));
    EXPECT_TRUE(likeliest(view_of({nan_value}), {.top = 1}).empty());
}

TEST(Likeliest, below_the_threshold_nothing_is_said)
{
    const std::vector<float> shares = {0.5F, 0.25F, 0.25F};
    EXPECT_EQ(likeliest(view_of(shares), {.top = 3, .confidence = 0.25F}).size(), 3U);
    EXPECT_EQ(likeliest(view_of(shares), {.top = 3, .confidence = 0.3F}).size(), 1U);
    EXPECT_TRUE(likeliest(view_of(shares), {.top = 3, .confidence = 0.6F}).empty());
}

TEST(Likeliest, takes_thousands_of_classes)
{
    std::vector<float> scores(21841);
    for (size_t i = 0; i < scores.size(); i++)
        scores[i] = static_cast<float>(i % 1000);
    EXPECT_EQ(numbers_of(likeliest(view_of(scores), {.top = 3})),
              (std::vector<int64_t>{999, 1999, 2999}));
}

// ---- what is classified -------------------------------------------------------------

TEST(IsTarget, is_the_whole_label)
{
    EXPECT_TRUE(is_target("person", {}));
    EXPECT_TRUE(is_target("person", {"car", "person"}));
    EXPECT_TRUE(is_target("person #3", {"person"}));
    EXPECT_FALSE(is_target("person", {"pers"}));
    EXPECT_FALSE(is_target("pers", {"person"}));
    EXPECT_FALSE(is_target("", {"person"}));
}

TEST(RegionOf, is_cut_off_at_the_edges)
{
    const Size frame = {100, 50};
    EXPECT_EQ(region_of({10, 5, 30, 20}, frame, {1, 1}), (Region{10, 5, {20, 15}}));
    EXPECT_EQ(region_of({-10, -5, 30, 20}, frame, {1, 1}), (Region{0, 0, {30, 20}}));
    EXPECT_EQ(region_of({90, 40, 300, 200}, frame, {1, 1}), (Region{90, 40, {10, 10}}));
    EXPECT_EQ(region_of({-1e9F, -1e9F, 1e9F, 1e9F}, frame, {1, 1}), (Region{0, 0, {100, 50}}));
}

TEST(RegionOf, has_a_pixel_at_least)
{
    const Size frame = {100, 50};
    EXPECT_EQ(region_of({10, 5, 10, 5}, frame, {1, 1}), (Region{10, 5, {1, 1}}));
    EXPECT_EQ(region_of({99.9F, 49.9F, 120, 60}, frame, {1, 1}), (Region{99, 49, {1, 1}}));
}

TEST(RegionOf, is_none_outside)
{
    const Size frame = {100, 50};
    for (const Box &box : {Box{100, 5, 120, 20}, Box{-20, 5, 0, 20}, Box{10, 50, 30, 60},
                           Box{30, 5, 10, 20}, Box{nan_value, 5, 10, 20}})
        EXPECT_EQ(region_of(box, frame, {1, 1}), std::nullopt) << box.left << " " << box.top;
}

TEST(RegionOf, begins_where_chroma_does)
{
    EXPECT_EQ(region_of({11, 7, 31, 20}, {100, 50}, {2, 2}), (Region{10, 6, {21, 14}}));
}

TEST(PlacePart, fills_the_picture)
{
    const Region part = {10, 20, {40, 20}};
    const Placement stretched = place_part(part, {16, 16}, Placing::stretch, {2, 2});
    EXPECT_EQ(stretched.source, part);
    EXPECT_EQ(stretched.target, (Region{0, 0, {16, 16}}));
    const Placement cropped = place_part(part, {16, 16}, Placing::crop, {2, 2});
    EXPECT_EQ(cropped.source, (Region{20, 20, {20, 20}}));
    const Placement boxed = place_part(part, {16, 16}, Placing::letterbox, {2, 2});
    EXPECT_EQ(boxed.source, part);
    EXPECT_EQ(boxed.target, (Region{0, 4, {16, 8}}));
}
