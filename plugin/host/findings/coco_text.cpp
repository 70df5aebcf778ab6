// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One JSON object with annotations, images and categories, in COCO's format.  Annotations are
// written as they arrive; images and categories follow at the end, and are kept compactly until
// then.
#include "base/compose.h"
#include "base/json.h"
#include "record_text.h"
#include "text.h"

extern "C" {
#include <libavutil/avutil.h>
}

#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

namespace dnn_torch
{
namespace
{

using json::Value;

Value numbers(std::initializer_list<double> list)
{
    Value value = Value::array();
    for (const double number : list)
        value.push_back(json::rounded(number, 2));
    return value;
}

// Returns "frame000012.png", like ffmpeg's frame%06d.png with -start_number 0.
std::string file_name(int64_t number)
{
    std::array<char, 48> name;
    snprintf(name.data(), name.size(), "frame%06lld.png", static_cast<long long>(number));
    return name.data();
}

// Consecutive frames of one size with evenly spaced times.
class Frames
{
public:
    explicit Frames(const FrameFacts &frame) : first_(frame) {}

    // Returns false if the frame does not continue the series.
    bool add(const FrameFacts &frame)
    {
        const bool has_time = frame.pts != AV_NOPTS_VALUE;
        if (frame.number != first_.number + count_ || frame.size != first_.size ||
            has_time != (first_.pts != AV_NOPTS_VALUE))
            return false;
        if (has_time && !is_evenly_spaced(frame.pts))
            return false;
        count_++;
        return true;
    }

    void append_to(std::string &text) const
    {
        for (int64_t i = 0; i < count_; i++) {
            FrameFacts frame = first_;
            frame.number += i;
            if (frame.pts != AV_NOPTS_VALUE)
                frame.pts += i * step_;
            add_to_list(text, line_of(frame), ",\n");
        }
    }

private:
    bool is_evenly_spaced(int64_t pts)
    {
        int64_t expected = 0, step = 0;
        if (__builtin_sub_overflow(pts, first_.pts, &step))
            return false;
        if (count_ == 1) {
            step_ = step;
            return true;
        }
        return !__builtin_mul_overflow(step_, count_, &expected) && step == expected;
    }

    static std::string line_of(const FrameFacts &frame)
    {
        const std::optional<double> seconds = seconds_of(frame);
        return json::line_of({{"id", frame.number},
                              {"file_name", file_name(frame.number)},
                              {"width", frame.size.width},
                              {"height", frame.size.height},
                              {"pts", frame.pts == AV_NOPTS_VALUE ? Value() : Value(frame.pts)},
                              {"time", seconds ? json::rounded(*seconds, 6) : Value()}});
    }

    FrameFacts first_;
    int64_t count_ = 1, step_ = 0;
};

// The category numbers of labels: the model's class numbers where they are free.
class Categories
{
public:
    int64_t number_of(const std::string &label, int64_t preferred)
    {
        const auto known = numbers_.find(label);
        if (known != numbers_.end())
            return known->second;
        preferred = std::max<int64_t>(preferred, 0);
        while (!taken_.insert(preferred).second)
            preferred = *taken_.rbegin() + 1;
        return numbers_.emplace(label, preferred).first->second;
    }

    std::string text() const
    {
        std::map<int64_t, const std::string *> in_order;
        for (const auto &[label, number] : numbers_)
            in_order[number] = &label;
        std::string text;
        for (const auto &[number, label] : in_order)
            add_to_list(text, json::line_of({{"id", number}, {"name", *label}}), ",\n");
        return text;
    }

private:
    std::map<std::string, int64_t> numbers_;
    std::set<int64_t> taken_;
};

class CocoText : public RecordText
{
public:
    std::string begin() override { return "{\"annotations\":["; }

    std::string record(const FrameFacts &frame, const Findings &found) override
    {
        if (rows_.empty() || !rows_.back().add(frame))
            rows_.emplace_back(frame);
        std::string text;
        const auto add = [&](const Finding &finding) {
            text += annotations_++ == 0 ? "\n" : ",\n";
            text += json::line_of(annotation(frame, finding));
        };
        for (const LabelScore &each : found.classes)
            add(whole(frame.size, each));
        for (const Finding &finding : found.things)
            add(finding);
        return text;
    }

    std::string end() override
    {
        std::string images;
        for (const Frames &row : rows_)
            row.append_to(images);
        return concat("\n],\n\"images\":[\n", images, "\n],\n\"categories\":[\n",
                      categories_.text(), "\n]}\n");
    }

    bool end_is_replaced() const override { return true; }

private:
    // Returns a class of the whole frame as an object that covers it.
    static Finding whole(Size size, const LabelScore &score)
    {
        return {.detection = {.box = {0, 0, static_cast<float>(size.width),
                                      static_cast<float>(size.height)},
                              .confidence = score.confidence,
                              .label = -1},
                .label = score.label};
    }

    Value annotation(const FrameFacts &frame, const Finding &finding)
    {
        const Detection &detection = finding.detection;
        const Box &box = detection.box;
        Value value = {{"id", annotations_},
                       {"image_id", frame.number},
                       {"category_id", categories_.number_of(finding.label, detection.label)},
                       {"bbox", numbers({box.left, box.top, box.width(), box.height()})},
                       {"area", json::rounded(box.area(), 2)},
                       {"iscrowd", 0},
                       {"score", json::rounded(detection.confidence, 4)}};
        if (finding.track != 0)
            value["track_id"] = finding.track;
        if (!detection.key_points.empty())
            add_key_points(value, detection.key_points);
        if (!finding.classes.empty())
            value["classes"] = classes_value(finding.classes);
        return value;
    }

    static void add_key_points(Value &value, const std::vector<KeyPoint> &points)
    {
        constexpr int visible = 2, absent = 0;
        Value list = Value::array();
        int64_t count = 0;
        for (const KeyPoint &point : points) {
            const bool is_there = point.confidence > 0;
            list.push_back(json::rounded(point.x, 2));
            list.push_back(json::rounded(point.y, 2));
            list.push_back(is_there ? visible : absent);
            count += is_there;
        }
        value["keypoints"] = std::move(list);
        value["num_keypoints"] = count;
    }

    std::vector<Frames> rows_;
    Categories categories_;
    int64_t annotations_ = 0;
};

} // namespace

std::unique_ptr<RecordText> make_coco_text()
{
    return std::make_unique<CocoText>();
}

} // namespace dnn_torch
