// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decoders, with tensors made by hand, and suppression.
#include "host/detection/decoders.h"
#include "host/detection/suppression.h"
#include "host/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace dnn_torch;

namespace
{

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

// Tensors with their memory.
class Tensors
{
public:
    Tensors &add(const char *name, std::vector<int64_t> dims, std::vector<float> values)
    {
        floats_.push_back(std::move(values));
        return add_view(name, DNN_TORCH_F32, dims, floats_.back().data(), sizeof(float));
    }
    Tensors &add_whole(const char *name, std::vector<int64_t> dims, std::vector<int64_t> values)
    {
        numbers_.push_back(std::move(values));
        return add_view(name, DNN_TORCH_I64, dims, numbers_.back().data(), sizeof(int64_t));
    }
    // A shape alone, or zeros.
    Tensors &add_shape(const char *name, std::vector<int64_t> dims)
    {
        return add_view(name, DNN_TORCH_F32, dims, nullptr, sizeof(float));
    }
    Tensors &add_zeros(const char *name, std::vector<int64_t> dims)
    {
        int64_t count = 1;
        for (const int64_t extent : dims)
            count *= extent;
        return add(name, dims, std::vector<float>(static_cast<size_t>(count)));
    }

    // Element of a float tensor, wherever it lies.
    float &at(size_t tensor, std::vector<int64_t> place)
    {
        char *data = static_cast<char *>(views_[tensor].data);
        for (size_t axis = 0; axis < place.size(); axis++)
            data += place[axis] * views_[tensor].strides[axis];
        return *reinterpret_cast<float *>(data);
    }
    std::span<const DnnTorchTensor> views() const { return views_; }
    DnnTorchTensor &view(size_t tensor) { return views_[tensor]; }

private:
    Tensors &add_view(const char *name, DnnTorchType type, const std::vector<int64_t> &dims,
                      void *data, size_t element)
    {
        DnnTorchTensor view = {.size = sizeof view,
                               .data = data,
                               .type = type,
                               .rank = static_cast<int32_t>(dims.size()),
                               .dims = {},
                               .strides = {},
                               .white = 0,
                               .name = {}};
        int64_t stride = static_cast<int64_t>(element);
        for (size_t axis = dims.size(); axis-- > 0;) {
            view.dims[axis] = dims[axis];
            view.strides[axis] = stride;
            stride *= dims[axis];
        }
        std::strncpy(view.name, name, sizeof view.name - 1);
        views_.push_back(view);
        return *this;
    }

    std::vector<std::vector<float>> floats_;
    std::vector<std::vector<int64_t>> numbers_;
    std::vector<DnnTorchTensor> views_;
};

std::string decoder_for(const Tensors &tensors, const DetectorFacts &facts = {},
                        const std::string &name = "")
{
    try {
        return find_decoder(tensors.views(), facts, name)->name();
    } catch (const Error &error) {
        EXPECT_LT(error.code(), 0);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
}

std::vector<Detection> decoded(const Tensors &tensors, const DetectorFacts &facts = {},
                               const std::string &name = "", int index = 0,
                               float confidence = 0.25F)
{
    std::vector<Detection> found;
    find_decoder(tensors.views(), facts, name)
        ->decode(tensors.views(), index, {.confidence = confidence}, found);
    return found;
}

void expect_box(const Detection &found, Box box, float confidence, int label)
{
    EXPECT_NEAR(found.box.left, box.left, 1e-3F);
    EXPECT_NEAR(found.box.top, box.top, 1e-3F);
    EXPECT_NEAR(found.box.right, box.right, 1e-3F);
    EXPECT_NEAR(found.box.bottom, box.bottom, 1e-3F);
    EXPECT_NEAR(found.confidence, confidence, 1e-5F);
    EXPECT_EQ(found.label, label);
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

// ---- plain boxes --------------------------------------------------------------

TEST(Boxes, AreReadAsTheyStand)
{
    Tensors tensors;
    tensors.add("", {2, 6}, {1, 2, 11, 22, 0.9F, 3, 5, 6, 7, 8, 0.2F, 0});
    const std::vector<Detection> found = decoded(tensors);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {1, 2, 11, 22}, 0.9F, 3);
}

TEST(Boxes, OfABatchAreThoseOfThePicture)
{
    Tensors tensors;
    tensors.add("", {2, 1, 6}, {1, 2, 3, 4, 0.5F, 0, 5, 6, 7, 8, 0.75F, 1});
    const std::vector<Detection> found = decoded(tensors, {}, "boxes", 1);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {5, 6, 7, 8}, 0.75F, 1);
    EXPECT_THROW(decoded(tensors, {}, "boxes", 2), Error);
}

TEST(Boxes, ThatAreNoneAreLeftOut)
{
    Tensors tensors;
    tensors.add("", {11, 6}, {0,         0, 9,        9, nan_value, 0,    //
                              0,         0, 9,        9, infinite,  0,    //
                              0,         0, 9,        9, 1.5F,      0,    //
                              0,         0, 9,        9, -1,        0,    //
                              nan_value, 0, 9,        9, 0.9F,      0,    //
                              0,         0, infinite, 9, 0.9F,      0,    //
                              9,         0, 9,        9, 0.9F,      0,    //
                              0,         9, 9,        0, 0.9F,      0,    //
                              0,         0, 9,        9, 0.9F,      -1,   //
                              0,         0, 9,        9, 0.9F,      1e9F, //
                              0,         0, 9,        9, 0.9F,      nan_value});
    EXPECT_TRUE(decoded(tensors, {}, "", 0, 0).empty());
}

TEST(Choice, SaysWhatCameAndWhatToDo)
{
    Tensors tensors;
    tensors.add_shape("a.b\x1b", {1, 2, 3, 4, 5});
    const std::string line = decoder_for(tensors);
    EXPECT_TRUE(contains(line, "a.b\\x1b [1,2,3,4,5]")) << line;
    EXPECT_TRUE(contains(line, "decoder=NAME")) << line;
    EXPECT_TRUE(contains(line, "boxes")) << line;
    EXPECT_TRUE(contains(decoder_for(tensors, {}, "yolov77"), "'yolov77'"));
    EXPECT_TRUE(contains(decoder_for(tensors, {}, "boxes"), "[1,2,3,4,5]"));
    EXPECT_TRUE(contains(decoder_for(Tensors()), "no tensors"));
}

// ---- suppression --------------------------------------------------------------

Detection a_box(float left, float top, float right, float bottom, float confidence, int label = 0)
{
    return {.box = {left, top, right, bottom}, .confidence = confidence, .label = label};
}

TEST(Suppression, KeepsTheSurestOfEachClass)
{
    // The first two share 80 of 120: two thirds.
    const std::vector<Detection> all = {a_box(2, 0, 12, 10, 0.6F), a_box(0, 0, 10, 10, 0.9F),
                                        a_box(2, 0, 12, 10, 0.5F, 1), a_box(30, 0, 40, 10, 0.3F)};
    std::vector<Detection> found = all;
    suppress(found, {.iou = 0.6F});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].confidence, 0.9F);
    EXPECT_EQ(found[1].confidence, 0.5F);
    EXPECT_EQ(found[2].confidence, 0.3F);
    found = all;
    suppress(found, {.iou = 0.6F, .agnostic = true});
    EXPECT_EQ(found.size(), 2U);
    found = all;
    suppress(found, {.iou = 0.67F, .agnostic = true});
    EXPECT_EQ(found.size(), 3U);
    found = all;
    suppress(found, {.iou = 0.6F, .max_boxes = 1});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].confidence, 0.9F);
}

TEST(Suppression, KeepsTheOrderOfEquals)
{
    std::vector<Detection> found;
    for (int i = 0; i < 50; i++)
        found.push_back(
            a_box(static_cast<float>(20 * i), 0, static_cast<float>(20 * i + 10), 10, 0.5F, i % 3));
    suppress(found, {.max_boxes = 40});
    ASSERT_EQ(found.size(), 40U);
    for (size_t i = 0; i < found.size(); i++)
        EXPECT_EQ(found[i].box.left, static_cast<float>(20 * i));
}

TEST(Suppression, IsSafeWithWhatIsNoNumber)
{
    std::vector<Detection> found = {a_box(0, 0, 10, 10, nan_value),
                                    a_box(nan_value, 0, 10, 10, 0.9F),
                                    a_box(0, 0, 10, infinite, 0.9F), a_box(0, 0, 10, 10, 0.5F)};
    suppress(found, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].confidence, 0.5F);
    suppress(found, {.max_boxes = 0});
    EXPECT_TRUE(found.empty());
    suppress(found, {});
    EXPECT_TRUE(found.empty());
}

std::vector<Detection> random_boxes(std::mt19937 &random, size_t count, float area)
{
    std::uniform_real_distribution<float> place(0, area), extent(5, 80), confidence(0, 1);
    std::vector<Detection> found;
    for (size_t i = 0; i < count; i++) {
        const float left = place(random), top = place(random);
        found.push_back(a_box(left, top, left + extent(random), top + extent(random),
                              std::round(confidence(random) * 50) / 50,
                              static_cast<int>(random() % 3)));
    }
    return found;
}

// The definition, without any cleverness.
std::vector<Detection> suppressed_slowly(std::vector<Detection> found, float iou)
{
    std::stable_sort(found.begin(), found.end(), [](const Detection &one, const Detection &other) {
        return one.confidence > other.confidence;
    });
    std::vector<Detection> kept;
    for (const Detection &candidate : found)
        if (std::none_of(kept.begin(), kept.end(), [&](const Detection &other) {
                return other.label == candidate.label && overlap(other.box, candidate.box) > iou;
            }))
            kept.push_back(candidate);
    return kept;
}

TEST(Suppression, DoesWhatItsDefinitionSays)
{
    std::mt19937 random(1);
    for (int i = 0; i < 200; i++) {
        std::vector<Detection> found = random_boxes(random, random() % 80, 300);
        const float iou = static_cast<float>(random() % 10) / 10;
        const std::vector<Detection> expected = suppressed_slowly(found, iou);
        suppress(found, {.iou = iou, .max_boxes = 1000});
        ASSERT_EQ(found.size(), expected.size());
        for (size_t k = 0; k < found.size(); k++) {
            EXPECT_EQ(found[k].box, expected[k].box);
            EXPECT_EQ(found[k].label, expected[k].label);
        }
    }
}

TEST(Suppression, TakesTheSurestOfVeryMany)
{
    std::mt19937 random(2);
    std::vector<Detection> found = random_boxes(random, 40'000, 100'000);
    suppress(found, {.iou = 1, .max_boxes = 1'000'000});
    EXPECT_EQ(found.size(), 30'000U);
    EXPECT_EQ(found.front().confidence, 1);
    EXPECT_GE(found.back().confidence, 0.2F);
}

TEST(Overlap, OfTurnedBoxes)
{
    const auto turned = [](float x, float y, float width, float height, float angle) {
        const float reach = (width + height) / 2;
        Detection made = a_box(x - reach, y - reach, x + reach, y + reach, 0.5F);
        made.turned = {x, y, width, height, angle};
        return made;
    };
    constexpr float quarter = 1.57079633F;
    EXPECT_NEAR(overlap(turned(0, 0, 10, 4, 0.3F), turned(0, 0, 10, 4, 0.3F)), 1, 1e-5F);
    // A cross of two bars has 16 of 64 in common.
    EXPECT_NEAR(overlap(turned(0, 0, 10, 4, 0), turned(0, 0, 10, 4, quarter)), 16.0F / 64, 1e-5F);
    EXPECT_NEAR(overlap(turned(0, 0, 10, 4, 0), turned(0, 0, 4, 10, quarter)), 1, 1e-5F);
    // A square and the same turned by an eighth: an octagon, 8 * (sqrt(2) - 1) of 4.
    const float octagon = 8 * (std::sqrt(2.0F) - 1);
    EXPECT_NEAR(overlap(turned(5, 5, 2, 2, 0), turned(5, 5, 2, 2, quarter / 2)),
                octagon / (8 - octagon), 1e-5F);
    EXPECT_NEAR(overlap(turned(0, 0, 20, 2, quarter / 2), turned(8, -8, 20, 2, quarter / 2)), 0,
                1e-5F);
    std::vector<Detection> found = {turned(0, 0, 10, 4, 0), turned(0, 0, 10, 4, quarter)};
    suppress(found, {});
    EXPECT_EQ(found.size(), 2U);
}

} // namespace
