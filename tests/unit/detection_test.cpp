// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decoders, with tensors made by hand, and suppression.
#include "host/detection/decoder_kinds.h"
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
    Tensors &add(const char *name, const std::vector<int64_t> &dims, std::vector<float> values)
    {
        floats_.push_back(std::move(values));
        return add_view(name, DNN_TORCH_F32, dims, floats_.back().data(), sizeof(float));
    }
    Tensors &add_whole(const char *name, const std::vector<int64_t> &dims,
                       std::vector<int64_t> values)
    {
        numbers_.push_back(std::move(values));
        return add_view(name, DNN_TORCH_I64, dims, numbers_.back().data(), sizeof(int64_t));
    }
    // A shape alone, or zeros.
    Tensors &add_shape(const char *name, const std::vector<int64_t> &dims)
    {
        return add_view(name, DNN_TORCH_F32, dims, nullptr, sizeof(float));
    }
    Tensors &add_zeros(const char *name, const std::vector<int64_t> &dims)
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
    const auto decoder = find_decoder(tensors.views(), facts, name);
    decoder->decode(tensors.views(), index, {.confidence = confidence}, found);
    decoder->add_key_points(tensors.views(), index, found);
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

// ---- YOLO, rows ---------------------------------------------------------------

// Of a picture of 64x64: 8x8, 4x4 and 2x2 cells.
constexpr int64_t cells = 84;
constexpr Size small_input = {64, 64};

TEST(YoloV8, HasARowForEachBox)
{
    Tensors tensors;
    tensors.add_zeros("", {2, 4 + 3, cells});
    const float row[] = {20, 30, 10, 8, 0.1F, 0.2F, 0.8F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {1, i, 5}) = row[i];
    const DetectorFacts facts = {.input = small_input, .classes = 3};
    EXPECT_TRUE(decoded(tensors, facts).empty());
    const std::vector<Detection> found = decoded(tensors, facts, "", 1);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {15, 26, 25, 34}, 0.8F, 2);
    EXPECT_EQ(found[0].row, 5);
    const auto decoder = find_decoder(tensors.views(), facts, "");
    EXPECT_STREQ(decoder->name(), "yolov8");
    EXPECT_EQ(decoder->classes(), 3);
    EXPECT_TRUE(decoder->needs_suppression());
}

TEST(YoloV8, IsReadTurnedAsWell)
{
    Tensors tensors;
    tensors.add_zeros("", {1, cells, 4 + 3});
    const float row[] = {20, 30, 10, 8, 0.1F, 0.2F, 0.8F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, 5, i}) = row[i];
    const std::vector<Detection> found = decoded(tensors, {.input = small_input, .classes = 3});
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {15, 26, 25, 34}, 0.8F, 2);
}

TEST(YoloV8, IsReadByStrides)
{
    Tensors tensors;
    tensors.add_zeros("", {1, cells, 4 + 3});
    const float row[] = {20, 30, 10, 8, 0.1F, 0.2F, 0.8F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, 5, i}) = row[i];
    std::swap(tensors.view(0).dims[1], tensors.view(0).dims[2]);
    std::swap(tensors.view(0).strides[1], tensors.view(0).strides[2]);
    const std::vector<Detection> found = decoded(tensors, {.input = small_input, .classes = 3});
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {15, 26, 25, 34}, 0.8F, 2);
}

TEST(YoloV8, HasPoses)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 4 + 1 + 2 * 3, cells});
    const float row[] = {20, 30, 10, 8, 0.8F, 1, 2, 0.5F, 3, nan_value, 0.6F};
    for (int64_t i = 0; i < 11; i++)
        tensors.at(0, {0, i, 7}) = row[i];
    const std::vector<Detection> found = decoded(tensors, {.input = small_input,
                                                           .classes = 1,
                                                           .task = "pose",
                                                           .key_points = 2,
                                                           .key_point_numbers = 3});
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].key_points.size(), 2U);
    EXPECT_EQ(found[0].key_points[0], (KeyPoint{1, 2, 0.5F}));
    EXPECT_EQ(found[0].key_points[1], (KeyPoint{0, 0, 0}));
    // Two numbers of each point, as only the division shows.
    Tensors plain;
    plain.add_zeros("", {1, 4 + 1 + 4 * 2, cells});
    plain.at(0, {0, 2, 0}) = plain.at(0, {0, 3, 0}) = 4;
    plain.at(0, {0, 4, 0}) = 0.5F;
    const std::vector<Detection> points =
        decoded(plain, {.input = small_input, .classes = 1, .task = "pose"});
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].key_points.size(), 4U);
    EXPECT_EQ(points[0].key_points[0].confidence, 1);
    // 17 points, of a model that says nothing.
    Tensors bare;
    bare.add_shape("", {1, 56, 8400});
    EXPECT_EQ(find_decoder(bare.views(), {.input = {640, 640}}, "")->classes(), 1);
    EXPECT_EQ(find_decoder(bare.views(), {.input = {640, 640}, .classes = 52}, "")->classes(), 52);
}

TEST(YoloV8, HasTurnedBoxes)
{
    constexpr float quarter = 1.57079633F;
    Tensors tensors;
    tensors.add_zeros("", {1, 4 + 2 + 1, cells});
    const float row[] = {20, 30, 10, 4, 0.1F, 0.8F, quarter};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, i, 7}) = row[i];
    const std::vector<Detection> found =
        decoded(tensors, {.input = small_input, .classes = 2, .task = "obb"});
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {18, 25, 22, 35}, 0.8F, 1);
    EXPECT_EQ(found[0].turned, (TurnedBox{20, 30, 10, 4, quarter}));
}

// One value more than 4 and the classes, if it is known how many there are, is an angle.
TEST(YoloV8, HasTurnedBoxesIfTheClassesSaySo)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 4 + 2 + 1, cells});
    const float row[] = {20, 30, 10, 4, 0.1F, 0.8F, -0.5F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, i, 7}) = row[i];
    const auto found = decoded(tensors, {.input = small_input, .classes = 2});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].turned, (TurnedBox{20, 30, 10, 4, -0.5F}));
    const auto upright = decoded(tensors, {.input = small_input, .classes = 3});
    ASSERT_EQ(upright.size(), 1U);
    EXPECT_FALSE(upright[0].turned);
    EXPECT_EQ(upright[0].label, 1);
    // Who names the decoder alone means its usual boxes.
    EXPECT_FALSE(decoded(tensors, {.input = small_input}, "yolov8").at(0).turned);
}

TEST(YoloV8, IsNotGuessed)
{
    Tensors tensors;
    tensors.add_shape("", {1, 20, 8400});
    const std::string words = decoder_for(tensors, {.input = {640, 640}});
    EXPECT_TRUE(contains(words, "boxes of 16 classes (nb_classes=16)")) << words;
    EXPECT_TRUE(contains(words, "turned boxes of 15 classes and an angle (nb_classes=15)"));
    EXPECT_EQ(decoder_for(tensors, {.input = {640, 640}, .task = "detect"}), "yolov8");
    for (const int classes : {15, 16})
        EXPECT_EQ(decoder_for(tensors, {.input = {640, 640}, .classes = classes}), "yolov8");
    Tensors one; // without classes there is nothing to find
    one.add_shape("", {1, 5, 8400});
    EXPECT_EQ(find_decoder(one.views(), {.input = {640, 640}}, "")->classes(), 1);
}

TEST(YoloV8, HasMasks)
{
    Tensors tensors;
    tensors.add_zeros("0", {1, 4 + 1 + 2, cells}).add_zeros("1", {1, 2, 16, 16});
    const float row[] = {20, 32, 16, 8, 0.8F, 3, -1};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, i, 7}) = row[i];
    tensors.at(1, {0, 0, 7, 3}) = 2; // 3 * 2 - 1 * 1 = 5
    tensors.at(1, {0, 1, 7, 3}) = 1;
    const DetectorFacts facts = {.input = small_input, .classes = 1, .task = "segment"};
    const auto decoder = find_decoder(tensors.views(), facts, "");
    EXPECT_STREQ(decoder->name(), "yolov8");
    EXPECT_TRUE(decoder->has_masks());
    std::vector<Detection> found;
    decoder->decode(tensors.views(), 0, {}, found);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FALSE(found[0].mask);
    decoder->add_masks(tensors.views(), 0, found);
    ASSERT_TRUE(found[0].mask);
    // The box of 12..28 x 28..36 is 4x2 cells of four pixels, from cell 3, 7 on.
    EXPECT_EQ(found[0].mask.size, (Size{4, 2}));
    EXPECT_EQ(found[0].mask.area, (Box{12, 28, 28, 36}));
    ASSERT_EQ(found[0].mask.values->size(), 8U);
    EXPECT_NEAR(found[0].mask.values->at(0), 1 / (1 + std::exp(-5.0F)), 1e-6F);
    for (size_t i = 1; i < 8; i++)
        EXPECT_EQ(found[0].mask.values->at(i), 0.5F);
}

TEST(YoloV5, MultipliesObjectness)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 3 * cells, 5 + 2});
    const float row[] = {20, 30, 10, 8, 0.5F, 0.6F, 0.8F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, 100, i}) = row[i];
    const DetectorFacts facts = {.input = small_input};
    EXPECT_EQ(decoder_for(tensors, facts), "yolov5");
    const std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {15, 26, 25, 34}, 0.4F, 1);
    EXPECT_TRUE(decoded(tensors, facts, "", 0, 0.41F).empty());
}

TEST(YoloX, IsReadRawAndDone)
{
    const DetectorFacts facts = {.input = small_input, .classes = 1};
    Tensors raw;
    raw.add_zeros("", {1, cells, 6});
    // Cell 64 + 4 + 2 is of stride 16, at (2, 1).
    const float row[] = {0.5F, 0.25F, std::log(2.0F), 0, 0.9F, 0.5F};
    for (int64_t i = 0; i < 6; i++)
        raw.at(0, {0, 70, i}) = row[i];
    EXPECT_EQ(decoder_for(raw, facts), "yolox");
    std::vector<Detection> found = decoded(raw, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {40 - 16, 20 - 8, 40 + 16, 20 + 8}, 0.45F, 0);

    Tensors done;
    done.add_zeros("", {1, cells, 6});
    for (int64_t i = 0; i < cells; i++)
        done.at(0, {0, i, 0}) = done.at(0, {0, i, 1}) = 32;
    const float pixels[] = {40, 20, 32, 16, 0.9F, 0.5F};
    for (int64_t i = 0; i < 6; i++)
        done.at(0, {0, 70, i}) = pixels[i];
    found = decoded(done, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {24, 12, 56, 28}, 0.45F, 0);
}

TEST(YoloNms, LeavesOutRowsOfNothing)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 300, 6});
    const float row[] = {1, 2, 11, 22, 0.9F, 79};
    for (int64_t i = 0; i < 6; i++)
        tensors.at(0, {0, 0, i}) = row[i];
    const DetectorFacts facts = {.input = {640, 640}, .classes = 80};
    EXPECT_EQ(decoder_for(tensors, facts), "yolo-nms");
    const std::vector<Detection> found = decoded(tensors, facts, "", 0, 0);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {1, 2, 11, 22}, 0.9F, 79);
    EXPECT_FALSE(find_decoder(tensors.views(), facts, "")->needs_suppression());
}

TEST(YoloNms, HasTurnedBoxesPosesAndMasks)
{
    Tensors turned;
    turned.add("", {1, 1, 7}, {20, 30, 10, 4, 0.8F, 1, 1.57079633F});
    std::vector<Detection> found = decoded(turned, {.task = "obb", .end2end = true});
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {18, 25, 22, 35}, 0.8F, 1);

    Tensors pose;
    pose.add("", {1, 1, 12}, {1, 2, 11, 22, 0.8F, 0, 3, 4, 0.5F, 5, 6, 1});
    found = decoded(pose, {.task = "pose", .end2end = true});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].key_points, (std::vector<KeyPoint>{{3, 4, 0.5F}, {5, 6, 1}}));

    Tensors masks;
    masks.add("0", {1, 1, 7}, {0, 0, 8, 8, 0.8F, 0, 1}).add("1", {1, 1, 2, 2}, {9, -9, 0, 0});
    const DetectorFacts facts = {.input = {16, 16}, .task = "segment", .end2end = true};
    found = decoded(masks, facts);
    ASSERT_EQ(found.size(), 1U);
    find_decoder(masks.views(), facts, "")->add_masks(masks.views(), 0, found);
    ASSERT_TRUE(found[0].mask);
    EXPECT_EQ(found[0].mask.size, (Size{1, 1}));
    EXPECT_NEAR(found[0].mask.values->at(0), 1 / (1 + std::exp(-9.0F)), 1e-6F);
}

// ---- Darknet ------------------------------------------------------------------

TEST(YoloV3, PlacesBoxesByCellsAndAnchors)
{
    // One class, three anchors: 18 channels; grids of 2x2, 4x4 and 8x8.
    Tensors tensors;
    tensors.add_zeros("a", {1, 18, 2, 2})
        .add_zeros("b", {1, 18, 4, 4})
        .add_zeros("c", {1, 18, 8, 8});
    for (const size_t head : {0U, 1U, 2U})
        for (int64_t y = 0; y < 2 << head; y++)
            for (int64_t x = 0; x < 2 << head; x++)
                for (const int64_t box : {0, 1, 2})
                    tensors.at(head, {0, box * 6 + 4, y, x}) = -20;
    const float values[] = {0, 0, std::log(2.0F), 0, 20, 20};
    for (int64_t i = 0; i < 6; i++)
        tensors.at(1, {0, 6 + i, 1, 2}) = values[i];
    const DetectorFacts facts = {.input = small_input};
    EXPECT_EQ(decoder_for(tensors, facts), "yolov3");
    std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    // Cell (2, 1) of 16 pixels; Darknet's anchor is 62x45.
    expect_box(found[0], {40 - 62, 24 - 22.5F, 40 + 62, 24 + 22.5F}, 1, 0);
    // YOLOv4: 76x55.
    found = decoded(tensors, facts, "yolov4");
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {40 - 76, 24 - 27.5F, 40 + 76, 24 + 27.5F}, 1, 0);
    // Given anchors go by the order of the tensors.
    DetectorFacts given = facts;
    for (int i = 1; i <= 18; i++)
        given.anchors.push_back(static_cast<float>(i));
    found = decoded(tensors, given);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {40 - 9, 24 - 5, 40 + 9, 24 + 5}, 1, 0);
    given.anchors.pop_back();
    EXPECT_TRUE(contains(decoder_for(tensors, given, "yolov3"), "does not take"));
}

TEST(YoloV3, TakesScoresThatAreDone)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 2, 2, 14}); // channels last: two boxes, two classes
    const float values[] = {0.5F, 0.25F, 0, std::log(3.0F), 0.8F, 0.25F, 0.5F};
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, 1, 0, 7 + i}) = values[i];
    const std::vector<Detection> found =
        decoded(tensors, {.input = small_input, .anchors = {1, 2, 10, 4}}, "yolov3");
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {16 - 5, 40 - 6, 16 + 5, 40 + 6}, 0.4F, 1);
}

TEST(YoloV5, HasHeadsWhoseExtentsAreSquares)
{
    Tensors tensors; // one class; grids of 8x8, 4x4 and 2x2
    tensors.add_zeros("0", {1, 3, 8, 8, 6})
        .add_zeros("1", {1, 3, 4, 4, 6})
        .add_zeros("2", {1, 3, 2, 2, 6});
    for (const size_t head : {0U, 1U, 2U})
        for (int64_t y = 0; y < 8 >> head; y++)
            for (int64_t x = 0; x < 8 >> head; x++)
                for (const int64_t box : {0, 1, 2})
                    tensors.at(head, {0, box, y, x, 4}) = -20;
    // Sigmoids of 0.75, 0.5, 0.5, 0.25 and of nearly 1.
    const float values[] = {std::log(3.0F), 0, 0, -std::log(3.0F), 20, 20};
    for (int64_t i = 0; i < 6; i++)
        tensors.at(1, {0, 1, 1, 2, i}) = values[i];
    const DetectorFacts facts = {.input = small_input};
    std::vector<Detection> found = decoded(tensors, facts, "yolov5");
    ASSERT_EQ(found.size(), 1U);
    // Middle: (2 + 2 * 0.75 - 0.5, 1 + 2 * 0.5 - 0.5) cells of 16; the anchor is 62x45.
    expect_box(found[0], {48 - 31, 24 - 5.625F, 48 + 31, 24 + 5.625F}, 1, 0);
    found = decoded(tensors, facts, "yolov7");
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {48 - 38, 24 - 6.875F, 48 + 38, 24 + 6.875F}, 1, 0); // 76x55
}

TEST(YoloV2, HasAnchorsInCells)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 6, 2, 2});
    const float values[] = {0.5F, 0.5F, 0, 0, 0.8F, 0.5F};
    for (int64_t i = 0; i < 6; i++)
        tensors.at(0, {0, i, 1, 0}) = values[i];
    const DetectorFacts facts = {.input = small_input, .anchors = {0.5F, 0.25F}, .cells = {2, 2}};
    EXPECT_EQ(decoder_for(tensors, facts), "yolov2");
    const std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {8, 44, 24, 52}, 0.4F, 0);
}

// The channels are last only if the grid's cells are then square.
TEST(YoloV2, IsFoundInGridsOfItsUsualSizes)
{
    const std::vector<float> anchors = {0.57F, 0.68F, 1.87F, 2.06F, 3.34F,
                                        5.47F, 7.88F, 3.53F, 9.77F, 9.17F};
    const std::pair<Size, Size> grids[] = {
        {{416, 416}, {13, 13}}, {{608, 320}, {19, 10}}, {{160, 160}, {5, 5}}};
    for (const auto &[input, grid] : grids) {
        for (const bool is_last : {false, true}) {
            Tensors tensors;
            tensors.add_zeros("", is_last ? std::vector<int64_t>{1, grid.height, grid.width, 425}
                                          : std::vector<int64_t>{1, 425, grid.height, grid.width});
            const DetectorFacts facts = {.input = input, .anchors = anchors, .cells = grid};
            EXPECT_EQ(decoder_for(tensors, facts), "yolov2") << grid.width << ' ' << is_last;
        }
    }
}

TEST(YoloV2, HasASoftmaxOverItsClasses)
{
    Tensors tensors;
    tensors.add_zeros("", {1, 7, 2, 2});
    const float values[] = {2, 0, 0, 0, 30, 9, 10}; // beyond 0 to 1, so without any of them done
    for (int64_t i = 0; i < 7; i++)
        tensors.at(0, {0, i, 1, 0}) = values[i];
    const DetectorFacts facts = {.input = small_input, .anchors = {0.5F, 0.25F}, .cells = {2, 2}};
    std::vector<Detection> found = decoded(tensors, facts, "yolov2");
    ASSERT_FALSE(found.empty());
    const Detection &surest =
        *std::max_element(found.begin(), found.end(), [](const auto &one, const auto &other) {
            return one.confidence < other.confidence;
        });
    EXPECT_EQ(surest.label, 1);
    EXPECT_NEAR(surest.confidence, 1 / (1 + std::exp(-1.0F)), 1e-5F);
}

TEST(Candidates, TheSurestStayInOrder)
{
    std::vector<Detection> found(most_candidates + 3);
    for (size_t i = 0; i < found.size(); i++)
        found[i] = {.confidence = 0.5F, .row = static_cast<int64_t>(i)};
    found[1].confidence = found.back().confidence = 0.75F;
    found[2].confidence = 0.25F;
    keep_most_confident(found);
    ASSERT_EQ(found.size(), most_candidates);
    EXPECT_EQ(found[1].row, 1);
    EXPECT_EQ(found[2].row, 3);
    EXPECT_EQ(found.back().row, static_cast<int64_t>(most_candidates) + 2);
    const size_t before = found.size();
    keep_most_confident(found);
    EXPECT_EQ(found.size(), before);
}

// ---- SSD ----------------------------------------------------------------------

TEST(Ssd, EndsAtPictureMinusOne)
{
    Tensors tensors;
    tensors.add("", {1, 1, 4, 7}, {0,  3, 0.9F, 0.25F, 0.5F, 0.5F, 1, //
                                   1,  4, 0.8F, 0,     0,    1,    1, //
                                   -1, 0, 0,    0,     0,    0,    0, //
                                   0,  5, 0.9F, 0,     0,    1,    1});
    const DetectorFacts facts = {.input = {200, 100}};
    EXPECT_EQ(decoder_for(tensors, facts), "ssd");
    std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {50, 50, 100, 100}, 0.9F, 3);
    found = decoded(tensors, facts, "", 1);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {0, 0, 200, 100}, 0.8F, 4);
    EXPECT_TRUE(contains(decoder_for(tensors), "size=WxH"));
}

TEST(Ssd, HasBoxesAndLabelsApart)
{
    Tensors tensors;
    tensors.add_whole("labels", {2}, {7, -1})
        .add("boxes", {2, 5}, {1, 2, 11, 22, 0.9F, 1, 2, 3, 4, 0.9F});
    EXPECT_EQ(decoder_for(tensors), "ssd");
    const std::vector<Detection> found = decoded(tensors);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {1, 2, 11, 22}, 0.9F, 7);
}

// ---- torchvision --------------------------------------------------------------

TEST(Torchvision, HasAGroupForEachPicture)
{
    Tensors tensors;
    tensors.add("1.0.boxes", {0, 4}, {})
        .add_whole("1.0.labels", {0}, {})
        .add("1.0.scores", {0}, {})
        .add("1.1.boxes", {2, 4}, {1, 2, 11, 22, 5, 6, 7, 8})
        .add_whole("1.1.labels", {2}, {3, 1})
        .add("1.1.scores", {2}, {0.9F, 0.1F});
    EXPECT_EQ(decoder_for(tensors), "torchvision");
    EXPECT_TRUE(decoded(tensors).empty());
    const std::vector<Detection> found = decoded(tensors, {}, "", 1);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {1, 2, 11, 22}, 0.9F, 3);
    EXPECT_THROW(decoded(tensors, {}, "", 2), Error);
}

TEST(Torchvision, NeedsNoNames)
{
    Tensors tensors;
    tensors.add("0", {1, 4}, {1, 2, 11, 22}).add_whole("1", {1}, {3}).add("2", {1}, {0.9F});
    EXPECT_EQ(decoder_for(tensors), "torchvision");
    ASSERT_EQ(decoded(tensors).size(), 1U);
    Tensors other;
    other.add("0", {1, 4}, {1, 2, 11, 22}).add("1", {1}, {0.9F}).add_whole("2", {1}, {3});
    ASSERT_EQ(decoded(other).size(), 1U);
    expect_box(decoded(other)[0], {1, 2, 11, 22}, 0.9F, 3);
}

std::string fault_of(const Tensors &tensors, const DetectorFacts &facts = {})
{
    try {
        return decoded(tensors, facts).empty() ? "nothing found" : "";
    } catch (const Error &error) {
        return error.what();
    }
}

// One row of a decoder's tensors may stand for any number of points in the records.
TEST(KeyPoints, AreBoundedTogether)
{
    for (const int64_t things : {2, 3}) {
        Tensors listed;
        listed.add_zeros("0.boxes", {things, 4})
            .add_whole("0.labels", {things}, std::vector<int64_t>(static_cast<size_t>(things)))
            .add("0.scores", {things}, std::vector<float>(static_cast<size_t>(things), 0.9F))
            .add_zeros("0.keypoints", {things, most_key_points / 2, 3});
        for (int64_t i = 0; i < things; i++)
            listed.at(0, {i, 2}) = listed.at(0, {i, 3}) = 8;
        EXPECT_EQ(contains(fault_of(listed), "key points together"), things == 3);
    }
    constexpr int64_t points = 3000;
    for (const int64_t things : {most_key_points / points, most_key_points / points + 1}) {
        Tensors rows;
        rows.add_zeros("", {1, things, 6 + points * 3});
        for (int64_t i = 0; i < things; i++) {
            rows.at(0, {0, i, 2}) = rows.at(0, {0, i, 3}) = 8;
            rows.at(0, {0, i, 4}) = 0.9F;
        }
        const std::string fault =
            fault_of(rows, {.task = "pose", .end2end = true, .key_points = points});
        EXPECT_EQ(contains(fault, "key points together"), things * points > most_key_points)
            << fault;
    }
}

TEST(Torchvision, HasMasksAndKeyPoints)
{
    Tensors tensors;
    tensors.add("0.boxes", {1, 4}, {1, 0, 3, 2})
        .add_whole("0.labels", {1}, {1})
        .add("0.scores", {1}, {0.9F})
        .add("0.masks", {1, 1, 2, 4}, {0, 0.25F, 2, 0, 0, nan_value, 1, 0})
        .add("0.keypoints", {1, 2, 3}, {1, 2, 1, 3, 4, 1})
        .add("0.keypoints_scores", {1, 2}, {0, 20});
    std::vector<Detection> found = decoded(tensors);
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].key_points.size(), 2U);
    EXPECT_EQ(found[0].key_points[0], (KeyPoint{1, 2, 0.5F}));
    EXPECT_NEAR(found[0].key_points[1].confidence, 1, 1e-6F);
    find_decoder(tensors.views(), {}, "")->add_masks(tensors.views(), 0, found);
    ASSERT_TRUE(found[0].mask);
    EXPECT_EQ(found[0].mask.size, (Size{2, 2}));
    EXPECT_EQ(found[0].mask.area, (Box{1, 0, 3, 2}));
    EXPECT_EQ(*found[0].mask.values, (std::vector<float>{0.25F, 1, 0, 1}));
}

// ---- transformers -------------------------------------------------------------

TEST(Detr, TakesTheSoftmax)
{
    Tensors tensors;
    tensors.add_zeros("logits", {1, 100, 3}).add_zeros("pred_boxes", {1, 100, 4});
    for (int64_t query = 0; query < 100; query++)
        tensors.at(0, {0, query, 2}) = 20; // nothing
    const float logits[] = {0, std::log(6.0F), 0};
    const float box[] = {0.5F, 0.5F, 0.25F, 0.5F};
    for (int64_t i = 0; i < 3; i++)
        tensors.at(0, {0, 9, i}) = logits[i];
    for (int64_t i = 0; i < 4; i++)
        tensors.at(1, {0, 9, i}) = box[i];
    const DetectorFacts facts = {.input = {200, 100}};
    EXPECT_EQ(decoder_for(tensors, facts), "detr");
    std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {75, 25, 125, 75}, 0.75F, 1); // 6 of 8
    // As many classes as logits: the sigmoid, of each query.
    const DetectorFacts three = {.input = {200, 100}, .classes = 3};
    EXPECT_EQ(decoder_for(tensors, three), "rtdetr");
    found = decoded(tensors, three, "", 0, 0.8F);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {75, 25, 125, 75}, 6.0F / 7, 1);
    EXPECT_EQ(decoder_for(tensors, {.input = {200, 100}, .classes = 2}), "detr");
}

TEST(RtDetr, TakesTheSurestAnswersOfAllClasses)
{
    Tensors tensors;
    tensors.add("logits", {1, 2, 3}, {2, 1, -9, -9, 3, 0})
        .add("pred_boxes", {1, 2, 4}, {0.5F, 0.5F, 0.25F, 0.5F, 0.25F, 0.25F, 0.5F, 0.5F});
    const DetectorFacts facts = {.input = {200, 100}, .classes = 3};
    // Two queries have two answers: the first one's second class is one of none.
    std::vector<Detection> found = decoded(tensors, facts, "", 0, 0.4F);
    ASSERT_EQ(found.size(), 2U);
    expect_box(found[0], {75, 25, 125, 75}, 1 / (1 + std::exp(-2.0F)), 0);
    expect_box(found[1], {0, 0, 100, 50}, 1 / (1 + std::exp(-3.0F)), 1);
    tensors.at(0, {0, 1, 1}) = -9;
    found = decoded(tensors, facts, "", 0, 0.6F);
    ASSERT_EQ(found.size(), 2U);
    expect_box(found[0], {75, 25, 125, 75}, 1 / (1 + std::exp(-2.0F)), 0);
    expect_box(found[1], {75, 25, 125, 75}, 1 / (1 + std::exp(-1.0F)), 1);
}

TEST(RtDetr, IsReadInItsFurtherForms)
{
    Tensors deployed;
    deployed.add_whole("labels", {1, 2}, {5, 6})
        .add("boxes", {1, 2, 4}, {1, 2, 11, 22, 1, 2, 3, 4})
        .add("scores", {1, 2}, {0.9F, 0.1F});
    EXPECT_EQ(decoder_for(deployed), "rtdetr");
    ASSERT_EQ(decoded(deployed).size(), 1U);
    expect_box(decoded(deployed)[0], {1, 2, 11, 22}, 0.9F, 5);

    Tensors one;
    one.add_zeros("", {1, 300, 6});
    const float row[] = {0.5F, 0.5F, 0.25F, 0.5F, 0.1F, 0.7F};
    for (int64_t i = 0; i < 6; i++)
        one.at(0, {0, 3, i}) = row[i];
    const DetectorFacts facts = {.input = {200, 100}, .classes = 2};
    const std::vector<Detection> found = decoded(one, facts, "rtdetr");
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {75, 25, 125, 75}, 0.7F, 1);
    Tensors coco;
    coco.add_shape("", {1, 300, 84});
    EXPECT_EQ(decoder_for(coco, {.input = {640, 640}, .classes = 80}), "rtdetr");
}

// ---- two tensors and more -----------------------------------------------------

TEST(YoloNas, HasBoxesAndScoresApart)
{
    Tensors tensors;
    tensors.add_zeros("0", {1, cells, 4}).add_zeros("1", {1, 2, cells});
    const float box[] = {1, 2, 11, 22};
    for (int64_t i = 0; i < 4; i++)
        tensors.at(0, {0, 80, i}) = box[i];
    tensors.at(1, {0, 1, 80}) = 0.75F;
    const DetectorFacts facts = {.input = small_input};
    EXPECT_EQ(decoder_for(tensors, facts), "yolo-nas");
    const std::vector<Detection> found = decoded(tensors, facts);
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], {1, 2, 11, 22}, 0.75F, 1);
    Tensors large;
    large.add_shape("0", {1, 8400, 4}).add_shape("1", {1, 8400, 80});
    EXPECT_EQ(decoder_for(large, {.input = {640, 640}}), "yolo-nas");
}

TEST(EfficientNms, EndsAtItsCount)
{
    Tensors tensors;
    tensors.add_whole("num_dets", {1, 1}, {1})
        .add("boxes", {1, 2, 4}, {1, 2, 11, 22, 1, 2, 11, 22})
        .add("scores", {1, 2}, {0.9F, 0.9F})
        .add_whole("classes", {1, 2}, {4, 5});
    EXPECT_EQ(decoder_for(tensors), "efficient-nms");
    ASSERT_EQ(decoded(tensors).size(), 1U);
    expect_box(decoded(tensors)[0], {1, 2, 11, 22}, 0.9F, 4);
}

// ---- which decoder ------------------------------------------------------------

std::string choice(std::vector<std::vector<int64_t>> shapes, const DetectorFacts &facts)
{
    Tensors tensors;
    for (size_t i = 0; i < shapes.size(); i++)
        tensors.add_shape(shapes.size() > 1 ? std::to_string(i).c_str() : "", shapes[i]);
    return decoder_for(tensors, facts);
}

TEST(Choice, GoesByFactsAndGrids)
{
    const DetectorFacts none = {.input = {640, 640}};
    const DetectorFacts coco = {.input = {640, 640}, .classes = 80};
    EXPECT_EQ(choice({{1, 84, 8400}}, none), "yolov8");
    EXPECT_EQ(choice({{1, 84, 8400}}, coco), "yolov8");
    EXPECT_EQ(choice({{1, 8400, 84}}, none), "yolov8");
    EXPECT_EQ(choice({{1, 8400, 84}}, coco), "yolov8");
    EXPECT_EQ(choice({{1, 8400, 85}}, none), "yolox");
    EXPECT_EQ(choice({{1, 8400, 85}}, coco), "yolox");
    // YOLOX with 7 classes, or YOLOv8 with 8 and its tensor turned.
    EXPECT_TRUE(contains(choice({{1, 8400, 12}}, none), "decoder=NAME, of: yolox, yolov8"));
    EXPECT_EQ(choice({{1, 8400, 12}}, {.input = {640, 640}, .classes = 7}), "yolox");
    EXPECT_EQ(choice({{1, 8400, 12}}, {.input = {640, 640}, .classes = 8}), "yolov8");
    EXPECT_EQ(choice({{1, 25200, 85}}, none), "yolov5");
    EXPECT_EQ(choice({{1, 25200, 85}}, coco), "yolov5");
    EXPECT_EQ(choice({{1, 25200, 117}, {1, 32, 160, 160}}, none), "yolov5");
    EXPECT_EQ(choice({{1, 116, 8400}, {1, 32, 160, 160}}, none), "yolov8");
    EXPECT_EQ(choice({{1, 116, 8400}, {1, 32, 160, 160}}, coco), "yolov8");
    EXPECT_EQ(choice({{1, 300, 38}, {1, 32, 160, 160}}, none), "yolo-nms");
    EXPECT_EQ(choice({{1, 300, 6}}, none), "yolo-nms");
    EXPECT_EQ(choice({{1, 300, 6}}, coco), "yolo-nms");
    EXPECT_EQ(choice({{300, 6}}, none), "boxes");
    EXPECT_EQ(choice({{1, 25200, 6}}, none), "yolov5");
    EXPECT_EQ(choice({{1, 300, 57}}, {.input = {640, 640}, .task = "pose", .end2end = true}),
              "yolo-nms");
    EXPECT_EQ(choice({{1, 300, 57}}, {.input = {640, 640}, .classes = 1, .task = "pose"}),
              "yolo-nms");
    EXPECT_EQ(choice({{1, 300, 7}}, {.input = {640, 640}, .classes = 2, .task = "obb"}),
              "yolo-nms");
    for (const int classes : {1, 2, 3})
        EXPECT_EQ(choice({{1, 300, 6}}, {.input = {640, 640}, .classes = classes}), "yolo-nms");
    EXPECT_EQ(choice({{1, 20, 21504}}, {.input = {1024, 1024}, .classes = 15, .task = "obb"}),
              "yolov8");
    EXPECT_EQ(choice({{1, 18, 20, 20}, {1, 18, 40, 40}, {1, 18, 80, 80}}, none), "yolov3");
    const std::vector<std::vector<int64_t>> heads = {
        {1, 3, 80, 80, 85}, {1, 3, 40, 40, 85}, {1, 3, 20, 20, 85}};
    EXPECT_TRUE(contains(choice(heads, none), "decoder=NAME, of: yolov5, yolov7"));
    const std::vector<float> anchors(18, 10);
    EXPECT_EQ(choice(heads, {.input = {640, 640}, .anchors = anchors}), "yolov5");
    // 64x64 pixels have 84 cells: boxes come last, unless the classes say otherwise.
    EXPECT_EQ(choice({{1, 84, 84}}, {.input = small_input}), "yolov8");
    EXPECT_EQ(choice({{1, 252, 6}}, {.input = small_input, .classes = 1}), "yolov5");
    EXPECT_EQ(choice({{1, 252, 6}}, {.input = small_input, .end2end = true}), "yolo-nms");
    EXPECT_TRUE(contains(choice({{1, 252, 6}}, {.input = small_input}), "of: yolov5, yolo-nms"));
    EXPECT_TRUE(contains(choice({{1, 3000, 85}}, {}), "name one with decoder=NAME"));
}

TEST(Choice, TakesAllNames)
{
    const std::vector<std::string> names = names_of_decoders();
    EXPECT_GE(names.size(), 14U);
    for (const std::string &name : names)
        EXPECT_TRUE(contains(decoder_for(Tensors(), {}, name), "no tensors")) << name;
}

// ---- hostile tensors ----------------------------------------------------------

// Decodes with all decoders; nothing may be found that is no detection.
void decode_by_all(const Tensors &tensors, const DetectorFacts &facts)
{
    for (const std::string &name : names_of_decoders()) {
        std::vector<Detection> found;
        try {
            const auto decoder = find_decoder(tensors.views(), facts, name);
            decoder->decode(tensors.views(), 0, {.confidence = 0}, found);
            decoder->add_key_points(tensors.views(), 0, found);
            decoder->add_masks(tensors.views(), 0, found);
        } catch (const Error &) {
            continue;
        }
        for (const Detection &detection : found) {
            EXPECT_GT(detection.confidence, 0);
            EXPECT_LE(detection.confidence, 1);
            EXPECT_GE(detection.label, 0);
            EXPECT_GT(detection.box.width(), 0);
            EXPECT_GT(detection.box.height(), 0);
            EXPECT_TRUE(std::isfinite(detection.box.area()));
            for (const KeyPoint &point : detection.key_points)
                EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y));
        }
    }
}

// Tensors that expand() made have all their values in one place.
TEST(Hostile, TensorsWithoutMemoryAreNotRead)
{
    Tensors tensors;
    tensors.add("", {1}, {0.9F});
    DnnTorchTensor &view = tensors.view(0);
    view.rank = 3;
    const int64_t dims[] = {1, 6, 1'000'000'000};
    std::copy(std::begin(dims), std::end(dims), view.dims);
    std::fill_n(view.strides, 3, 0);
    EXPECT_THROW(decoded(tensors, {}, "yolov8"), Error);
    view.dims[2] = INT64_MAX / 2;
    EXPECT_THROW(decoded(tensors, {}, "yolov8"), Error);
    view.dims[2] = 100'000;
    EXPECT_FALSE(decoded(tensors, {}, "yolov8").empty());
}

TEST(Hostile, MasksCostNoMoreThanAllowed)
{
    constexpr int side = 640;
    Tensors tensors;
    tensors.add_zeros("0", {1, 4 + 1 + 1, 8400}).add("1", {1}, {1});
    DnnTorchTensor &prototypes = tensors.view(1);
    prototypes.rank = 4;
    const int64_t dims[] = {1, 1, side, side};
    std::copy(std::begin(dims), std::end(dims), prototypes.dims);
    std::fill_n(prototypes.strides, 4, 0);
    const DetectorFacts facts = {.input = {side, side}, .classes = 1};
    const auto decoder = find_decoder(tensors.views(), facts, "yolov8");
    ASSERT_TRUE(decoder->has_masks());
    std::vector<Detection> found(80, {.box = {0, 0, side, side}, .confidence = 1});
    decoder->add_masks(tensors.views(), 0, found);
    EXPECT_TRUE(found.back().mask);
    found.resize(100, found.front());
    EXPECT_THROW(decoder->add_masks(tensors.views(), 0, found), Error);
}

TEST(Hostile, ValuesGiveSoundDetections)
{
    const float odd[] = {nan_value, infinite, -infinite, 1e30F, -1e30F, 1e9F,
                         -1,        0,        0.5F,      1,     3,      20};
    std::mt19937 random(7);
    const std::vector<std::vector<std::vector<int64_t>>> shapes = {
        {{4, 6}},
        {{1, 30, 6}},
        {{1, 7, 84}},
        {{1, 84, 7}},
        {{1, 252, 9}},
        {{1, 21, 56}},
        {{1, 12, 84}, {1, 4, 3, 5}},
        {{1, 1, 20, 7}},
        {{20, 5}, {20}},
        {{1, 20, 5}, {1, 20, 4}},
        {{1, 84, 4}, {1, 2, 84}},
        {{1, 1}, {1, 9, 4}, {1, 9}, {1, 9}},
        {{1, 18, 2, 2}, {1, 18, 4, 4}, {1, 18, 8, 8}}};
    for (const auto &each : shapes)
        for (int i = 0; i < 20; i++) {
            Tensors tensors;
            for (const std::vector<int64_t> &dims : each) {
                int64_t count = 1;
                for (const int64_t extent : dims)
                    count *= extent;
                std::vector<float> values;
                values.reserve(static_cast<size_t>(count));
                for (int64_t k = 0; k < count; k++)
                    values.push_back(odd[random() % std::size(odd)]);
                tensors.add("", dims, values);
            }
            for (const char *task : {"", "pose", "obb", "segment"})
                decode_by_all(tensors, {.input = small_input, .task = task});
        }
}

TEST(Hostile, ShapesAreRefusedOrEmpty)
{
    std::mt19937 random(8);
    const int64_t extents[] = {0, 1, 2, 4, 5, 6, 7, 21, 84, 300, int64_t{1} << 11};
    for (int i = 0; i < 3000; i++) {
        Tensors tensors;
        for (size_t count = random() % 5; count > 0; count--) {
            std::vector<int64_t> dims;
            for (size_t rank = random() % 6; rank > 0; rank--)
                dims.push_back(extents[random() % std::size(extents)]);
            tensors.add_shape(random() % 2 ? "boxes" : "", dims);
            if (random() % 3 == 0)
                tensors.view(tensors.views().size() - 1).type = DNN_TORCH_I64;
        }
        decoder_for(tensors, {.input = small_input});
        decode_by_all(tensors, {.input = small_input}); // without memory, all is empty
    }
}

TEST(Hostile, OtherTensorsThanTheFirstAreRefused)
{
    Tensors tensors, other;
    tensors.add_zeros("", {1, 7, cells});
    other.add_zeros("", {1, 6, cells});
    const auto decoder = find_decoder(tensors.views(), {.input = small_input, .classes = 3}, "");
    std::vector<Detection> found;
    EXPECT_THROW(decoder->decode(other.views(), 0, {}, found), Error);
    EXPECT_THROW(decoder->decode({}, 0, {}, found), Error);
    EXPECT_THROW(decoder->decode(tensors.views(), -1, {}, found), Error);
    tensors.view(0).type = DNN_TORCH_U8;
    EXPECT_THROW(decoder->decode(tensors.views(), 0, {}, found), Error);
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
