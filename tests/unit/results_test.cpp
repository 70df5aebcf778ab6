// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Side data, metadata and labels.
#include "host/error.h"
#include "host/ffmpeg_pointers.h"
#include "host/findings/metadata.h"
#include "host/findings/side_data.h"
#include "host/model/label_lists.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace dnn_torch;

namespace
{

constexpr Size frame_size = {64, 48};

FramePointer new_frame(Size size = frame_size)
{
    FramePointer frame(av_frame_alloc());
    frame->width = size.width;
    frame->height = size.height;
    frame->format = AV_PIX_FMT_GRAY8;
    return frame;
}

Finding thing(Box box, std::string label = "cat", float confidence = 0.5F)
{
    return {.detection = {.box = box, .confidence = confidence}, .label = std::move(label)};
}

AVDetectionBBox whole(Box box, Size size = frame_size)
{
    return box_of(thing(box), "cat", size);
}

const AVDetectionBBoxHeader *header_of(const AVFrame &frame)
{
    const AVFrameSideData *data = av_frame_get_side_data(&frame, AV_FRAME_DATA_DETECTION_BBOXES);
    return data ? reinterpret_cast<const AVDetectionBBoxHeader *>(data->data) : nullptr;
}

std::string key(const AVFrame &frame, const std::string &name)
{
    const AVDictionaryEntry *entry =
        av_dict_get(frame.metadata, ("lavfi.dnn_torch." + name).c_str(), nullptr, 0);
    return entry ? entry->value : "(none)";
}

// ---- boxes ----------------------------------------------------------------------

TEST(Boxes, HoldTheThingToHalfAPixel)
{
    const AVDetectionBBox box = whole({1.4F, 2.6F, 10.5F, 20.4F});
    EXPECT_EQ(box.x, 1);
    EXPECT_EQ(box.y, 3);
    EXPECT_EQ(box.w, 10);
    EXPECT_EQ(box.h, 17);
    EXPECT_STREQ(box.detect_label, "cat");
    EXPECT_EQ(box.detect_confidence.num, 5000);
    EXPECT_EQ(box.detect_confidence.den, 10000);
}

TEST(Boxes, AnyBoxLiesInTheFrame)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> position(-200, 200);
    for (int i = 0; i < 20000; i++) {
        const Size size = {1 + i % 97, 1 + i % 53};
        const Box exact = {position(random), position(random), position(random), position(random)};
        const AVDetectionBBox box = whole(exact, size);
        ASSERT_GE(box.x, 0);
        ASSERT_GE(box.y, 0);
        ASSERT_GE(box.w, 1);
        ASSERT_GE(box.h, 1);
        ASSERT_LE(box.x + box.w, size.width);
        ASSERT_LE(box.y + box.h, size.height);
        if (exact.left >= 0 && exact.left <= static_cast<float>(size.width - 1)) {
            ASSERT_LE(std::fabs(static_cast<float>(box.x) - exact.left), 0.5F);
        }
    }
}

TEST(Boxes, WhatIsNoNumberIsZero)
{
    const AVDetectionBBox box = whole({NAN, -INFINITY, INFINITY, NAN});
    EXPECT_EQ(box.x, 0);
    EXPECT_EQ(box.y, 0);
    EXPECT_EQ(box.w, frame_size.width);
    EXPECT_EQ(box.h, 1);
    for (float confidence : {NAN, -1.0F, 7.0F, INFINITY}) {
        const AVRational is = box_of(thing({}, "", confidence), "", frame_size).detect_confidence;
        EXPECT_EQ(is.num, confidence > 1 ? 10000 : 0);
    }
}

TEST(Boxes, HaveFourClassesAtMost)
{
    Finding finding = thing({0, 0, 4, 4});
    for (int i = 0; i < 6; i++)
        finding.classes.push_back({"class " + std::to_string(i), 0.1F * static_cast<float>(i)});
    const AVDetectionBBox box = box_of(finding, "x", frame_size);
    ASSERT_EQ(box.classify_count, 4U);
    EXPECT_STREQ(box.classify_labels[3], "class 3");
    EXPECT_EQ(box.classify_confidences[3].num, 3000);
}

TEST(Boxes, LabelsAreCutBetweenCharacters)
{
    EXPECT_EQ(truncated("abc", 3), "abc");
    EXPECT_EQ(truncated("abcd", 3), "abc");
    EXPECT_EQ(truncated("a\xC3\xA4", 2), "a");
    EXPECT_EQ(truncated("\xE2\x82\xAC\xE2\x82\xAC", 5), "\xE2\x82\xAC");
    EXPECT_EQ(truncated("\xF0\x9F\x98\x80", 3), "");
    EXPECT_EQ(truncated("\x80\x80\x80\x80\x80\x80", 5).size(), 5U);
    std::string label;
    for (int i = 0; i < 40; i++)
        label += "\xC3\xA4";
    const AVDetectionBBox box = box_of(thing({}), label, frame_size);
    EXPECT_EQ(std::string(box.detect_label), label.substr(0, 62));
}

TEST(SideData, IsWhatLibavutilReads)
{
    FramePointer frame = new_frame();
    const AVDetectionBBox boxes[] = {whole({0, 0, 4, 4}), whole({5, 6, 7, 9})};
    write_boxes(*frame, "dnn_torch_detect: " + std::string(400, 'm'), boxes);
    const AVDetectionBBoxHeader *header = header_of(*frame);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->nb_bboxes, 2U);
    EXPECT_EQ(strlen(header->source), 255U);
    const AVDetectionBBox *second = av_get_detection_bbox(header, 1);
    EXPECT_EQ(second->x, 5);
    EXPECT_EQ(second->h, 3);
    EXPECT_EQ(read_boxes(*frame)->boxes.size(), 2U);
}

TEST(SideData, IsAHeaderAloneWithoutBoxes)
{
    FramePointer frame = new_frame();
    write_boxes(*frame, "nobody", {});
    ASSERT_TRUE(header_of(*frame));
    EXPECT_EQ(header_of(*frame)->nb_bboxes, 0U);
    EXPECT_TRUE(read_boxes(*frame));
}

TEST(SideData, OtherReferencesKeepTheirs)
{
    FramePointer frame(av_frame_alloc());
    frame->width = frame->height = 16;
    frame->format = AV_PIX_FMT_GRAY8;
    ASSERT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
    const AVDetectionBBox before[] = {whole({1, 1, 3, 3})};
    write_boxes(*frame, "before", before);
    FramePointer other(av_frame_clone(frame.get()));
    write_boxes(*frame, "after", {});
    EXPECT_STREQ(header_of(*other)->source, "before");
    EXPECT_EQ(header_of(*other)->nb_bboxes, 1U);
    EXPECT_EQ(frame->nb_side_data, 1);
}

TEST(SideData, BoxesBecomeFindingsAgain)
{
    Finding said = thing({3, 4, 9, 11}, "dog", 0.75F);
    said.classes = {{"poodle", 0.5F}};
    const AVDetectionBBox boxes[] = {box_of(said, said.label, frame_size)};
    const std::vector<Finding> again = findings_of(boxes);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].detection.box, said.detection.box);
    EXPECT_EQ(again[0].label, "dog");
    EXPECT_FLOAT_EQ(again[0].detection.confidence, 0.75F);
    ASSERT_EQ(again[0].classes.size(), 1U);
    EXPECT_EQ(again[0].classes[0].label, "poodle");
}

// Puts bytes of anybody's making into a frame.
FramePointer frame_with(const AVDetectionBBoxHeader &header, size_t bytes)
{
    FramePointer frame = new_frame();
    AVFrameSideData *data =
        av_frame_new_side_data(frame.get(), AV_FRAME_DATA_DETECTION_BBOXES, bytes);
    std::memset(data->data, 0xFF, bytes);
    std::memcpy(data->data, &header, std::min(bytes, sizeof(header)));
    return frame;
}

TEST(SideData, ThatContradictsItselfIsNotRead)
{
    constexpr size_t head = sizeof(AVDetectionBBoxHeader), one = sizeof(AVDetectionBBox);
    auto is_read = [](uint32_t count, size_t offset, size_t stride, size_t bytes) {
        AVDetectionBBoxHeader header = {};
        header.nb_bboxes = count;
        header.bboxes_offset = offset;
        header.bbox_size = stride;
        return read_boxes(*frame_with(header, bytes)).has_value();
    };
    EXPECT_TRUE(is_read(2, head, one, head + 2 * one));
    EXPECT_TRUE(is_read(2, head + 8, one + 16, head + 8 + 2 * (one + 16)));
    EXPECT_FALSE(is_read(2, head, one, head + 2 * one - 1));
    EXPECT_FALSE(is_read(1, 0, one, head + one));
    EXPECT_FALSE(is_read(1, head, one - 1, head + one));
    EXPECT_FALSE(is_read(1, head, 0, head + one));
    EXPECT_FALSE(is_read(UINT32_MAX, head, one, head + one));
    EXPECT_FALSE(is_read(2, head, SIZE_MAX / 2, head + one));
    EXPECT_FALSE(is_read(1, SIZE_MAX - 4, one, head + one));
    EXPECT_FALSE(is_read(0, 0, 0, head - 1));
}

TEST(SideData, TextsAndCountsOfOthersAreBounded)
{
    AVDetectionBBoxHeader header = {};
    std::memset(header.source, 'x', sizeof(header.source));
    header.nb_bboxes = 1;
    header.bboxes_offset = sizeof(header);
    header.bbox_size = sizeof(AVDetectionBBox);
    const std::optional<KnownBoxes> known =
        read_boxes(*frame_with(header, sizeof(header) + sizeof(AVDetectionBBox)));
    ASSERT_TRUE(known);
    EXPECT_EQ(known->source.size(), 256U);
    EXPECT_EQ(strlen(known->boxes[0].detect_label), 63U);
    EXPECT_EQ(known->boxes[0].classify_count, 4U);
    EXPECT_EQ(findings_of(known->boxes)[0].classes[3].label.size(), 63U);
}

// ---- metadata -------------------------------------------------------------------

Findings two_things()
{
    Finding first = thing({1, 2, 11, 22}, "cat", 0.875F), second = thing({0, 0, 5, 5}, "a, \"b\"");
    first.track = 7;
    second.detection.turned = TurnedBox{2.5F, 2.5F, 4, 2, static_cast<float>(M_PI / 2)};
    second.detection.key_points = {{1, 2, 0.5F}, {3.25F, 4, 1}};
    second.classes = {{"tabby", 0.25F}};
    return {.things = {first, second}, .classes = {}};
}

std::vector<AVDetectionBBox> boxes_of(const Findings &found)
{
    std::vector<AVDetectionBBox> boxes;
    for (const Finding &finding : found.things)
        boxes.push_back(box_of(finding, finding.label, frame_size));
    return boxes;
}

TEST(Metadata, HasKeysForEachBox)
{
    FramePointer frame = new_frame();
    av_dict_set(&frame->metadata, "lavfi.scene_score", "0.1", 0);
    const Findings found = two_things();
    write_metadata(*frame, boxes_of(found), found, {});
    EXPECT_EQ(key(*frame, "count"), "2");
    EXPECT_EQ(key(*frame, "0.label"), "cat");
    EXPECT_EQ(key(*frame, "0.confidence"), "0.8750");
    EXPECT_EQ(key(*frame, "0.box"), "1,2,10,20");
    EXPECT_EQ(key(*frame, "0.track"), "7");
    EXPECT_EQ(key(*frame, "1.track"), "(none)");
    EXPECT_EQ(key(*frame, "1.turned"), "2.50,2.50,4.00,2.00");
    EXPECT_EQ(key(*frame, "1.angle"), "90.00");
    EXPECT_EQ(key(*frame, "1.key_points"), "1.00,2.00,0.5000;3.25,4.00,1.0000");
    EXPECT_EQ(key(*frame, "1.class.0.label"), "tabby");
    EXPECT_EQ(key(*frame, "1.class.0.confidence"), "0.2500");
    EXPECT_TRUE(av_dict_get(frame->metadata, "lavfi.scene_score", nullptr, 0));
}

TEST(Metadata, OfAnEarlierFilterIsNumberedOn)
{
    FramePointer frame = new_frame();
    const Findings earlier = two_things();
    std::vector<AVDetectionBBox> boxes = boxes_of(earlier);
    write_metadata(*frame, boxes, earlier, {});
    const Findings own = {.things = {thing({8, 8, 9, 9}, "own")}, .classes = {}};
    boxes.push_back(box_of(own.things[0], "own", frame_size));
    write_metadata(*frame, boxes, own, {.first = 2});
    EXPECT_EQ(key(*frame, "count"), "3");
    EXPECT_EQ(key(*frame, "0.label"), "cat");
    EXPECT_EQ(key(*frame, "0.track"), "7");
    EXPECT_EQ(key(*frame, "1.angle"), "90.00");
    EXPECT_EQ(key(*frame, "1.class.0.label"), "tabby");
    EXPECT_EQ(key(*frame, "2.label"), "own");
    EXPECT_EQ(av_dict_count(frame->metadata), 1 + 3 * 3 + 1 + 3 + 2);
}

TEST(Metadata, OfBoxesThatAreGoneGoes)
{
    FramePointer frame = new_frame();
    const Findings earlier = two_things();
    write_metadata(*frame, boxes_of(earlier), earlier, {});
    write_metadata(*frame, {}, {}, {});
    EXPECT_EQ(key(*frame, "count"), "0");
    EXPECT_EQ(av_dict_count(frame->metadata), 1);
}

TEST(Metadata, OfBoxesThatAClassifierSaysMoreOfStays)
{
    FramePointer frame = new_frame();
    const Findings earlier = two_things();
    write_boxes(*frame, "detector", boxes_of(earlier));
    write_metadata(*frame, boxes_of(earlier), earlier, {});
    Findings more = {.things = things_in(*frame), .classes = {{"indoors", 0.9F}}};
    ASSERT_EQ(more.things.size(), 2U);
    EXPECT_EQ(more.things[0].track, 7);
    more.things[0].classes = {{"siamese", 0.5F}};
    write_metadata(*frame, boxes_of(more), more, {.first = 0, .keeps_others = true});
    EXPECT_EQ(key(*frame, "0.class.0.label"), "siamese");
    EXPECT_EQ(key(*frame, "0.track"), "7");
    EXPECT_EQ(key(*frame, "1.angle"), "90.00");
    EXPECT_EQ(key(*frame, "class.0.label"), "indoors");
    EXPECT_EQ(key(*frame, "class.0.confidence"), "0.9000");
}

TEST(Metadata, WhatTwoFiltersSayOfAFrameStandsInARow)
{
    FramePointer frame = new_frame();
    EXPECT_FALSE(has_metadata(*frame));
    write_metadata(*frame, {}, {.things = {}, .classes = {{"indoors", 0.9F}, {"dark", 0.5F}}}, {});
    EXPECT_TRUE(has_metadata(*frame));
    write_metadata(*frame, {}, {.things = {}, .classes = {{"calm", 0.75F}}},
                   {.first = 0, .keeps_others = true});
    EXPECT_EQ(key(*frame, "class.0.label"), "indoors");
    EXPECT_EQ(key(*frame, "class.1.label"), "dark");
    EXPECT_EQ(key(*frame, "class.2.label"), "calm");
    EXPECT_EQ(key(*frame, "class.2.confidence"), "0.7500");
}

TEST(Metadata, OfStrangersIsNotTrusted)
{
    FramePointer frame = new_frame();
    for (const char *name : {"9999999999999999999999.label", "-1.box", ".", "x.y", "0", "0.", ""})
        av_dict_set(&frame->metadata, (std::string("lavfi.dnn_torch.") + name).c_str(), "?", 0);
    av_dict_set(&frame->metadata, "lavfi.dnn_torch.count", "99999999999999999999", 0);
    EXPECT_TRUE(things_in(*frame).empty());
    write_metadata(*frame, {}, {}, {});
    EXPECT_EQ(av_dict_count(frame->metadata), 1);
}

TEST(Metadata, HasALimit)
{
    FramePointer frame = new_frame();
    const Findings many = {.things = std::vector<Finding>(10000, thing({0, 0, 1, 1})),
                           .classes = {}};
    write_metadata(*frame, boxes_of(many), many, {});
    EXPECT_EQ(key(*frame, "count"), "10000");
    EXPECT_EQ(key(*frame, "999.label"), "cat");
    EXPECT_EQ(key(*frame, "1000.label"), "(none)");
}

// ---- labels ---------------------------------------------------------------------

class LabelsOption : public testing::Test
{
protected:
    ~LabelsOption() override { unlink(path.c_str()); }

    std::vector<std::string> read(const std::string &text)
    {
        std::ofstream(path, std::ios::binary) << text;
        return read_labels(path);
    }
    std::string fault(const std::string &text)
    {
        std::ofstream(path, std::ios::binary) << text;
        return fault_of(path);
    }
    static std::string fault_of(const std::string &name)
    {
        try {
            read_labels(name);
        } catch (const Error &error) {
            EXPECT_EQ(std::string(error.what()).rfind("labels=" + name, 0), 0U);
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            return error.what();
        }
        return "";
    }

    const std::string path = testing::TempDir() + "dnn_torch_labels_" + std::to_string(getpid());
};

TEST_F(LabelsOption, AreLines)
{
    const std::vector<std::string> labels = {"person", "", "caf\xC3\xA9 au lait"};
    EXPECT_EQ(read("person\n\ncaf\xC3\xA9 au lait"), labels);
    EXPECT_EQ(read("\xEF\xBB\xBFperson\r\n \r\n  caf\xC3\xA9 au lait\r\n\r\n\r\n"), labels);
    EXPECT_EQ(label_of(labels, 0), "person");
    EXPECT_EQ(label_of(labels, 1), "1");
    EXPECT_EQ(label_of(labels, 3), "3");
    EXPECT_EQ(label_of(labels, -1), "-1");
}

// The places are those that datasets and exporters publish.
TEST(LabelLists, FollowTheNumberOfClasses)
{
    const auto name = [](const char *list, int classes, size_t number) {
        const Labels all = labels_of_list(list, classes, false);
        EXPECT_EQ(all.size(), static_cast<size_t>(classes)) << list;
        return all.at(number);
    };
    EXPECT_EQ(name("coco", 80, 0), "person");
    EXPECT_EQ(name("coco", 80, 79), "toothbrush");
    EXPECT_EQ(name("coco", 91, 1), "person");
    EXPECT_EQ(name("coco", 91, 12), "");
    EXPECT_EQ(name("coco", 91, 90), "toothbrush");
    EXPECT_EQ(name("coco", 90, 0), "person");
    EXPECT_EQ(name("voc", 20, 14), "person");
    EXPECT_EQ(name("voc", 21, 0), "background");
    EXPECT_EQ(name("voc", 21, 15), "person");
    EXPECT_EQ(name("imagenet", 1000, 0), "tench");
    EXPECT_EQ(name("imagenet", 1000, 999), "toilet tissue");
    EXPECT_EQ(name("imagenet", 1001, 1), "tench");
}

TEST(LabelLists, HaveABackgroundWhereTheNumberIsNotKnown)
{
    EXPECT_EQ(labels_of_list("coco", 0, false).size(), 80U);
    EXPECT_EQ(labels_of_list("coco", 0, true).size(), 91U);
    EXPECT_EQ(labels_of_list("voc", 0, false).at(14), "person");
    EXPECT_EQ(labels_of_list("voc", 0, true).at(15), "person");
}

TEST(LabelLists, RefuseAnotherNumberOfClasses)
{
    try {
        labels_of_list("coco", 7, false);
        FAIL();
    } catch (const Error &error) {
        EXPECT_STREQ(error.what(), "labels=coco has names for 80, 90 or 91 classes, and the model "
                                   "has 7; labels=FILE names a text file with a label in "
                                   "each line");
    }
}

TEST_F(LabelsOption, AreRefusedInWords)
{
    EXPECT_NE(fault("").find("has no labels"), std::string::npos);
    EXPECT_NE(fault("\n\r\n").find("has no labels"), std::string::npos);
    EXPECT_NE(fault("a\nb\xFF\n").find("UTF-8 in line 2"), std::string::npos);
    EXPECT_NE(fault(std::string("a\0b", 3)).find("UTF-8 in line 1"), std::string::npos);
    EXPECT_NE(fault("a\n\xED\xA0\x80\n").find("UTF-8 in line 2"), std::string::npos);
    EXPECT_NE(fault("\xF4\x90\x80\x80\n").find("UTF-8 in line 1"), std::string::npos);
    EXPECT_NE(fault(std::string(5 << 20, 'a')).find("larger than 4 MiB"), std::string::npos);
    EXPECT_NE(fault_of("/nowhere/labels.txt").find("No such file"), std::string::npos);
    EXPECT_NE(fault_of("/").find("no file"), std::string::npos);
    unlink(path.c_str());
    ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
    EXPECT_NE(fault_of(path).find("no file"), std::string::npos);
}

} // namespace
