// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the host takes of what a child says that its model returned.
#include "isolation/proxy/taken_outputs.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

namespace
{

using isolation::Checked;
using isolation::Results;
using isolation::WireOutputs;
using isolation::WireTensor;

constexpr size_t memory_bytes = 4096;
constexpr int64_t largest = std::numeric_limits<int64_t>::max();

// Boxes, classes and an empty tensor, as a detector's child tells of them.
std::unique_ptr<WireOutputs> detections()
{
    auto outputs = std::make_unique<WireOutputs>();
    outputs->tensors[0] = {.type = DNN_TORCH_F32,
                           .rank = 2,
                           .dims = {2, 4},
                           .strides = {16, 4},
                           .white = 0,
                           .area = isolation::Area::given,
                           .offset = 0};
    outputs->tensors[1] = {.type = DNN_TORCH_I64,
                           .rank = 1,
                           .dims = {2},
                           .strides = {8},
                           .white = 0,
                           .area = isolation::Area::given,
                           .offset = 64};
    outputs->tensors[2] = outputs->tensors[0];
    outputs->tensors[2].dims[0] = 0;
    std::strcpy(outputs->tensors[0].name, "1.0.boxes");
    return outputs;
}

using Forge = std::function<void(WireOutputs &)>;

Checked check_forged(const Forge &forge, Results results = Results::all_tensors)
{
    auto outputs = detections();
    forge(*outputs);
    return check_views(*outputs, isolation::most_outputs, results, memory_bytes);
}

void expect_refused(const Forge &forge, const char *why)
{
    const Checked checked = check_forged(forge);
    EXPECT_FALSE(checked.count) << why;
    EXPECT_FALSE(checked.fault.empty()) << why;
}

TEST(TakenOutputs, AreCountedToTheFirstThatIsNotThere)
{
    const auto outputs = detections();
    EXPECT_EQ(check_views(*outputs, 64, Results::all_tensors, memory_bytes).count, 3U);
    EXPECT_EQ(check_shapes(*outputs, 64, Results::all_tensors).count, 3U);
    EXPECT_EQ(check_forged([](WireOutputs &all) { all = {}; }).count, 0U);
    EXPECT_FALSE(check_forged([](WireOutputs &) {}, Results::picture).count);
    EXPECT_EQ(check_views(*outputs, 2, Results::picture, memory_bytes).count, 2U);
    EXPECT_FALSE(check_views(*outputs, 3, Results::picture, memory_bytes).count);
}

TEST(TakenOutputs, KeepNamesAndExtents)
{
    const auto outputs = detections();
    char memory[memory_bytes] = {};
    const DnnTorchTensor boxes = view_of(*outputs, 0, memory), none = view_of(*outputs, 2, memory);
    EXPECT_STREQ(boxes.name, "1.0.boxes");
    EXPECT_EQ(boxes.data, memory);
    EXPECT_EQ(view_of(*outputs, 1, memory).data, memory + 64);
    EXPECT_EQ(none.dims[0], 0);
    EXPECT_NE(none.data, nullptr);
    EXPECT_EQ(view_of(*outputs, 0, nullptr).data, nullptr);
}

TEST(TakenOutputs, OfNoSenseAreRefused)
{
    expect_refused([](WireOutputs &all) { all.tensors[0].type = 0; }, "the first is missing");
    expect_refused([](WireOutputs &all) { all.tensors[63] = all.tensors[0]; }, "a gap");
    for (const int32_t type : {-1, 1, 4, 8, 9, 1 << 30})
        expect_refused([&](WireOutputs &all) { all.tensors[1].type = type; }, "a type");
    for (const int32_t rank : {-1, 9, 1 << 30})
        expect_refused([&](WireOutputs &all) { all.tensors[1].rank = rank; }, "a rank");
    for (const int64_t extent : {int64_t{-1}, int64_t{1} << 40, largest, -largest})
        for (const int at : {0, 1, 2})
            expect_refused([&](WireOutputs &all) { all.tensors[at].dims[0] = extent; },
                           "an extent");
    expect_refused([](WireOutputs &all) { all.tensors[1].offset = memory_bytes - 8; }, "the end");
    expect_refused([](WireOutputs &all) { all.tensors[1].offset = -8; }, "before the memory");
    expect_refused([](WireOutputs &all) { all.tensors[1].offset = 4; }, "between elements");
    expect_refused([](WireOutputs &all) { all.tensors[0].strides[0] = 0; }, "one row twice");
    expect_refused([](WireOutputs &all) { all.tensors[0].strides[0] = 32; }, "gaps");
    expect_refused([](WireOutputs &all) { all.tensors[0].white = -1; }, "a white");
    expect_refused(
        [](WireOutputs &all) { std::memset(all.tensors[1].name, 'n', sizeof all.tensors[1].name); },
        "a name without an end");
}

// Nobody who multiplies the other extents may overflow.
TEST(TakenOutputs, OfNoElementsMayNotBeHuge)
{
    expect_refused(
        [](WireOutputs &all) {
            all.tensors[2].rank = 3;
            all.tensors[2].dims[1] = all.tensors[2].dims[2] = int64_t{1} << 40;
        },
        "a huge one of none");
}

TEST(TakenOutputs, HaveNamesThatCanBeShown)
{
    auto outputs = detections();
    std::strcpy(outputs->tensors[0].name, "a\033[31mb\n");
    const std::string name = view_of(*outputs, 0, nullptr).name;
    EXPECT_EQ(name.find('\033'), std::string::npos);
    EXPECT_EQ(name.find('\n'), std::string::npos);
}

} // namespace
