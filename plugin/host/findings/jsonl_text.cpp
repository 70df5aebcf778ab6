// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One line with a JSON object for each frame.
#include "base/json.h"
#include "record_text.h"
#include "text.h"

extern "C" {
#include <libavutil/avutil.h>
}

namespace dnn_torch
{
namespace
{

using json::Value;

Value list_of(std::initializer_list<double> numbers, int decimals)
{
    Value list = Value::array();
    for (const double number : numbers)
        list.push_back(json::rounded(number, decimals));
    return list;
}

void add_turned(Value &thing, const TurnedBox &turned)
{
    thing["turned"] = list_of({turned.middle_x, turned.middle_y, turned.width, turned.height}, 2);
    thing["angle"] = json::rounded(turned.angle * degrees_in_radian, 2);
}

Value key_points_value(const std::vector<KeyPoint> &points)
{
    Value list = Value::array();
    for (const KeyPoint &point : points) {
        Value numbers = list_of({point.x, point.y}, 2);
        numbers.push_back(json::rounded(point.confidence, 4));
        list.push_back(std::move(numbers));
    }
    return list;
}

Value thing_value(const Finding &finding)
{
    const Detection &detection = finding.detection;
    const Box &box = detection.box;
    Value thing = {{"label", finding.label},
                   {"class", detection.label < 0 ? Value() : Value(detection.label)},
                   {"confidence", json::rounded(detection.confidence, 4)},
                   {"box", list_of({box.left, box.top, box.width(), box.height()}, 2)}};
    if (finding.track != 0)
        thing["track"] = finding.track;
    if (detection.turned)
        add_turned(thing, *detection.turned);
    if (!detection.key_points.empty())
        thing["key_points"] = key_points_value(detection.key_points);
    if (!finding.classes.empty())
        thing["classes"] = classes_value(finding.classes);
    return thing;
}

class JsonlText : public RecordText
{
public:
    std::string record(const FrameFacts &frame, const Findings &found) override
    {
        const std::optional<double> seconds = seconds_of(frame);
        Value line = {{"frame", frame.number},
                      {"pts", frame.pts == AV_NOPTS_VALUE ? Value() : Value(frame.pts)},
                      {"time", seconds ? json::rounded(*seconds, 6) : Value()},
                      {"width", frame.size.width},
                      {"height", frame.size.height},
                      {"things", Value::array()}};
        for (const Finding &finding : found.things)
            line["things"].push_back(thing_value(finding));
        if (!found.classes.empty())
            line["classes"] = classes_value(found.classes);
        return json::line_of(line) + "\n";
    }
};

} // namespace

std::unique_ptr<RecordText> make_jsonl_text()
{
    return std::make_unique<JsonlText>();
}

json::Value classes_value(const std::vector<LabelScore> &classes)
{
    json::Value list = json::Value::array();
    for (const LabelScore &score : classes)
        list.push_back(
            {{"label", score.label}, {"confidence", json::rounded(score.confidence, 4)}});
    return list;
}

} // namespace dnn_torch
