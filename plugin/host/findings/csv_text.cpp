// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One row for each box, with fields quoted as in RFC 4180.  Labels come from untrusted models, and
// spreadsheets evaluate fields that begin like a formula.
#include "base/compose.h"
#include "record_text.h"
#include "text.h"

extern "C" {
#include <libavutil/avutil.h>
}

#include <utility>

namespace dnn_torch
{
namespace
{

constexpr std::string_view header =
    "frame,pts,time,width,height,label,class,confidence,x,y,w,h,track,middle_x,middle_y,turned_w,"
    "turned_h,angle,key_points,classes\n";

std::string double_quoted(std::string_view field)
{
    std::string text = "\"";
    for (const char c : field)
        text.append(c == '"' ? 2 : 1, c);
    return text + "\"";
}

// Quotes semicolons and tabs as well, because some programs split fields at them.
std::string in_quotes(std::string_view field)
{
    const bool is_plain = field.find_first_of(",;\"\t\r\n") == field.npos;
    return is_plain ? std::string(field) : double_quoted(field);
}

// A spreadsheet evaluates even a quoted formula; an apostrophe makes it text.
std::string as_text(std::string_view field)
{
    const bool is_formula = field.find_first_of("=+-@\t\r\n") == 0;
    return is_formula ? double_quoted(concat("'", field)) : in_quotes(field);
}

std::string classes_text(const std::vector<LabelScore> &classes)
{
    std::string text;
    for (const LabelScore &score : classes)
        add_to_list(text, concat(score.label, " ", fixed_text(score.confidence, 4)), ";");
    return text;
}

std::string frame_fields(const FrameFacts &frame)
{
    const std::optional<double> seconds = seconds_of(frame);
    return concat(frame.number, ",",
                  frame.pts == AV_NOPTS_VALUE ? std::string() : std::to_string(frame.pts), ",",
                  seconds ? fixed_text(*seconds, 6) : std::string(), ",", frame.size.width, ",",
                  frame.size.height);
}

std::string box_fields(const Box &box)
{
    return concat(fixed_text(box.left, 2), ",", fixed_text(box.top, 2), ",",
                  fixed_text(box.width(), 2), ",", fixed_text(box.height(), 2));
}

std::string turned_fields(const std::optional<TurnedBox> &turned)
{
    if (!turned)
        return ",,,,";
    return concat(fixed_text(turned->middle_x, 2), ",", fixed_text(turned->middle_y, 2), ",",
                  fixed_text(turned->width, 2), ",", fixed_text(turned->height, 2), ",",
                  fixed_text(turned->angle * degrees_in_radian, 2));
}

std::string thing_fields(const Finding &finding)
{
    const Detection &detection = finding.detection;
    return concat(as_text(finding.label), ",",
                  detection.label < 0 ? std::string() : std::to_string(detection.label), ",",
                  fixed_text(detection.confidence, 4), ",", box_fields(detection.box), ",",
                  finding.track != 0 ? std::to_string(finding.track) : std::string(), ",",
                  turned_fields(detection.turned), ",",
                  in_quotes(key_points_text(detection.key_points, " ")), ",",
                  as_text(classes_text(finding.classes)));
}

class CsvText : public RecordText
{
public:
    std::string begin() override { return std::string(header); }

    std::string record(const FrameFacts &frame, const Findings &found) override
    {
        const std::string beginning = frame_fields(frame);
        std::string rows;
        // Classes of the whole frame have a row without a box.
        if (!found.classes.empty())
            rows +=
                concat(beginning, ",,,,,,,,,,,,,,,", as_text(classes_text(found.classes)), "\n");
        for (const Finding &finding : found.things)
            rows += concat(beginning, ",", thing_fields(finding), "\n");
        return rows;
    }
};

} // namespace

std::unique_ptr<RecordText> make_csv_text()
{
    return std::make_unique<CsvText>();
}

} // namespace dnn_torch
