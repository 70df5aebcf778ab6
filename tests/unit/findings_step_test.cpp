// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/error.h"
#include "host/findings/metadata.h"
#include "host/findings/side_data.h"
#include "host/tasks/every_nth.h"
#include "host/tasks/findings_step.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace dnn_torch;

namespace
{

constexpr AVRational time_base = {1, 25};

Findings one_thing(float left)
{
    return {.things = {{.detection = {.box = {left, 10, left + 20, 30}, .confidence = 0.5F},
                        .label = "cat"}},
            .classes = {}};
}

// Sends frames through a step, as the frame loop does.
struct Stream {
    explicit Stream(FindingsSettings settings, int every = 1)
        : step(std::move(settings)), every_nth(every)
    {
    }

    FrameItem item(Size size = {320, 240})
    {
        FramePointer frame(av_frame_alloc());
        frame->width = size.width;
        frame->height = size.height;
        frame->format = AV_PIX_FMT_GRAY8;
        frame->pts = number;
        return {.frame = std::move(frame), .bypass = false, .arrival = {}, .number = number++};
    }

    // Returns the left edges of the frame's boxes; nullopt without side data.
    std::optional<std::vector<int>> finish(FrameItem &item)
    {
        item.results.push_back(std::move(item.frame));
        step.complete(item, time_base);
        last = std::move(item.results.front());
        const std::optional<KnownBoxes> known = read_boxes(*last);
        if (!known)
            return std::nullopt;
        std::vector<int> lefts;
        for (const AVDetectionBBox &box : known->boxes)
            lefts.push_back(box.x);
        return lefts;
    }

    std::optional<std::vector<int>> pass(const Findings &found, Size size = {320, 240})
    {
        FrameItem frame = item(size);
        frame.bypass = frame.skipped = every_nth.skips(frame);
        seen.push_back(!frame.skipped);
        if (!frame.skipped)
            frame.found = std::make_shared<Findings>(found);
        return finish(frame);
    }

    FindingsStep step;
    EveryNth every_nth;
    int64_t number = 0;
    std::vector<bool> seen; // by the model
    FramePointer last;
};

using Lefts = std::optional<std::vector<int>>;

Lefts at(std::vector<int> lefts)
{
    return lefts;
}

TEST(FindingsStep, CarriesBoxesOverSkippedFrames)
{
    Stream stream({}, 3);
    EXPECT_EQ(stream.pass(one_thing(10)), at({10}));
    EXPECT_EQ(stream.pass(one_thing(99)), at({10}));
    EXPECT_EQ(stream.pass(one_thing(99)), at({10}));
    EXPECT_EQ(stream.pass(one_thing(20)), at({20}));
    EXPECT_EQ(stream.seen, std::vector<bool>({true, false, false, true}));
}

TEST(FindingsStep, TheModelSeesTheFirstFrameOfAnotherSize)
{
    Stream stream({}, 3);
    stream.pass(one_thing(10));
    stream.pass({}, {64, 48});
    stream.pass({}, {64, 48});
    EXPECT_EQ(stream.seen, std::vector<bool>({true, true, false}));
}

TEST(FindingsStep, FramesThatTheTimelineExcludesPassUntouched)
{
    Stream stream({}, 2);
    stream.pass(one_thing(10));
    FrameItem excluded = stream.item();
    excluded.bypass = true;
    EXPECT_EQ(stream.finish(excluded), std::nullopt);
    stream.pass(one_thing(30));
    EXPECT_TRUE(stream.seen.back()); // the first one after them
}

TEST(FindingsStep, AFrameThatEndedTheModelTwiceHasAnEmptyHeader)
{
    Stream stream({}, 2);
    stream.pass(one_thing(10));
    stream.pass({});
    FrameItem crashed = stream.item();
    stream.every_nth.skips(crashed);
    EXPECT_EQ(stream.finish(crashed), at({}));
    EXPECT_EQ(stream.pass({}), at({}));
    EXPECT_FALSE(stream.seen.back());
}

TEST(FindingsStep, TracksGoOnMoving)
{
    Stream stream({.track = Tracking::label, .metadata = true}, 2);
    for (int i = 0; i < 20; i += 2) {
        stream.pass(one_thing(static_cast<float>(10 + 4 * i)));
        const Lefts carried = stream.pass({});
        ASSERT_EQ(carried->size(), 1U);
        if (i >= 10) {
            EXPECT_NEAR(carried->front(), 10 + 4 * (i + 1), 2);
        }
    }
    EXPECT_STREQ(read_boxes(*stream.last)->boxes[0].detect_label, "cat #1");
    const AVDictionary *keys = stream.last->metadata;
    EXPECT_STREQ(av_dict_get(keys, "lavfi.dnn_torch.0.label", nullptr, 0)->value, "cat");
    EXPECT_STREQ(av_dict_get(keys, "lavfi.dnn_torch.0.track", nullptr, 0)->value, "1");
}

// The model's findings come two frames after their frame, which moves by 2 pixels each time.
TEST(FindingsStep, LateFindingsAreMovedToTheirFrame)
{
    Stream stream({.track = Tracking::on});
    for (int number = 0; number < 24; number++) {
        const int measured = number - 2;
        if (measured >= 0 && measured % 3 == 0) {
            FrameItem earlier = stream.item();
            stream.number--;
            earlier.number = measured;
            earlier.found = std::make_shared<Findings>(one_thing(static_cast<float>(2 * measured)));
            earlier.results.push_back(std::move(earlier.frame));
            stream.step.learn(earlier);
        }
        FrameItem late = stream.item();
        late.bypass = late.skipped = true;
        const Lefts lefts = stream.finish(late);
        if (number >= 15) {
            ASSERT_EQ(lefts->size(), 1U) << number;
            EXPECT_NEAR(lefts->front(), 2 * number, 2) << number;
        }
    }
}

TEST(FindingsStep, FindingsThatAreOlderThanTheLastOnesAreIgnored)
{
    Stream stream({});
    FrameItem earlier = stream.item();
    earlier.found = std::make_shared<Findings>(one_thing(10));
    earlier.results.push_back(std::move(earlier.frame));
    EXPECT_EQ(stream.pass(one_thing(50)), at({50}));
    stream.step.learn(earlier);
    FrameItem late = stream.item();
    late.bypass = late.skipped = true;
    EXPECT_EQ(stream.finish(late), at({50}));
}

TEST(FindingsStep, HiddenBoxesAreBlack)
{
    Stream stream({});
    FrameItem item = stream.item({64, 48});
    ASSERT_GE(av_frame_get_buffer(item.frame.get(), 0), 0);
    for (int y = 0; y < 48; y++)
        memset(item.frame->data[0] + y * item.frame->linesize[0], 200, 64);
    Findings found;
    found.hidden = {{10.6F, 4.2F, 20.1F, 8}, {12, 5, 14, 6}, {-5, 40, 3, 60}};
    item.found = std::make_shared<Findings>(found);
    stream.finish(item);
    const auto black = [&](int x, int y) {
        return stream.last->data[0][y * stream.last->linesize[0] + x] == 0;
    };
    for (int y = 0; y < 48; y++)
        for (int x = 0; x < 64; x++)
            ASSERT_EQ(black(x, y), (x >= 10 && x < 21 && y >= 4 && y < 8) || (x < 3 && y >= 40));
}

TEST(FindingsStep, BoxesOfAnEarlierFilterStayOrGo)
{
    const AVDetectionBBox earlier[] = {box_of(one_thing(50).things[0], "dog", {320, 240})};
    for (const EarlierBoxes becomes : {EarlierBoxes::kept, EarlierBoxes::replaced}) {
        Stream stream({.earlier = becomes, .source = "own"});
        FrameItem item = stream.item();
        write_boxes(*item.frame, "earlier", earlier);
        item.found = std::make_shared<Findings>(one_thing(10));
        const bool stay = becomes == EarlierBoxes::kept;
        EXPECT_EQ(stream.finish(item), stay ? at({50, 10}) : at({10}));
        EXPECT_EQ(read_boxes(*stream.last)->source, stay ? "earlier, own" : "own");
    }
}

TEST(FindingsStep, RefinedBoxesKeepTheirClassesWhileTheModelSkips)
{
    Stream stream({.earlier = EarlierBoxes::refined}, 2);
    for (int i = 0; i < 2; i++) {
        FrameItem item = stream.item();
        const Findings found = one_thing(static_cast<float>(10 + i));
        const AVDetectionBBox boxes[] = {box_of(found.things[0], "cat", {320, 240})};
        write_boxes(*item.frame, "detector", boxes);
        item.bypass = item.skipped = stream.every_nth.skips(item);
        if (!item.skipped) {
            item.found = std::make_shared<Findings>(found);
            item.found->things[0].classes = {{"tabby", 0.5F}};
        }
        EXPECT_EQ(stream.finish(item), at({10 + i}));
        EXPECT_STREQ(read_boxes(*stream.last)->boxes[0].classify_labels[0], "tabby");
    }
}

TEST(FindingsStep, ClassesOfTwoFiltersAreCarriedByEachItself)
{
    Stream stream({.earlier = EarlierBoxes::refined}, 2);
    for (int i = 0; i < 2; i++) {
        FrameItem item = stream.item();
        Finding cat = one_thing(10).things[0];
        cat.classes = {{i == 0 ? "tabby" : "siamese", 0.5F}}; // the first filter's
        const AVDetectionBBox boxes[] = {box_of(cat, "cat", {320, 240})};
        write_boxes(*item.frame, "detector", boxes);
        item.bypass = item.skipped = stream.every_nth.skips(item);
        if (!item.skipped) {
            item.found = std::make_shared<Findings>();
            item.found->things = findings_of(boxes);
            item.found->things[0].classes.push_back({"asleep", 0.75F});
        }
        stream.finish(item);
        const AVDetectionBBox box = read_boxes(*stream.last)->boxes[0];
        ASSERT_EQ(box.classify_count, 2U);
        EXPECT_STREQ(box.classify_labels[0], i == 0 ? "tabby" : "siamese");
        EXPECT_STREQ(box.classify_labels[1], "asleep");
    }
}

TEST(FindingsStep, KeysOfAnEarlierFilterAreOfAllBoxes)
{
    Stream stream({.earlier = EarlierBoxes::kept, .metadata = false});
    FrameItem item = stream.item();
    const Findings earlier = one_thing(50);
    const std::vector<AVDetectionBBox> boxes = {box_of(earlier.things[0], "dog", {320, 240})};
    write_boxes(*item.frame, "earlier", boxes);
    write_metadata(*item.frame, boxes, earlier, {});
    item.found = std::make_shared<Findings>(one_thing(10));
    EXPECT_EQ(stream.finish(item), at({50, 10}));
    const auto value = [&](const char *key) {
        return std::string(av_dict_get(stream.last->metadata, key, nullptr, 0)->value);
    };
    EXPECT_EQ(value("lavfi.dnn_torch.count"), "2");
    EXPECT_EQ(value("lavfi.dnn_torch.1.box").substr(0, 3), "10,");
}

TEST(FindingsStep, AFormatNeedsADestination)
{
    EXPECT_THROW(FindingsStep({.format = RecordFormat::csv}).open(), Error);
    EXPECT_NO_THROW(FindingsStep({}).open());
}

} // namespace
