// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_text.h"

#include "base/compose.h"
#include "text.h"

extern "C" {
#include <libavutil/avutil.h>
}

#include <algorithm>
#include <array>
#include <cctype>

namespace dnn_torch
{
namespace
{

struct Ending {
    std::string_view text;
    RecordFormat format;
};

constexpr std::array endings = {
    Ending{".csv", RecordFormat::csv},
    Ending{".json", RecordFormat::coco},
    Ending{".srt", RecordFormat::srt},
};

bool ends_with(std::string_view text, std::string_view ending)
{
    return text.size() >= ending.size() &&
           std::equal(ending.rbegin(), ending.rend(), text.rbegin(), [](char one, char other) {
               return one == std::tolower(static_cast<unsigned char>(other));
           });
}

} // namespace

RecordFormat format_for(std::string_view destination)
{
    for (const Ending &ending : endings)
        if (ends_with(destination, ending.text))
            return ending.format;
    return RecordFormat::jsonl;
}

std::unique_ptr<RecordText> make_record_text(RecordFormat format)
{
    switch (format) {
    case RecordFormat::csv:
        return make_csv_text();
    case RecordFormat::coco:
        return make_coco_text();
    case RecordFormat::srt:
        return make_srt_text();
    default:
        return make_jsonl_text();
    }
}

std::optional<double> seconds_of(const FrameFacts &frame)
{
    if (frame.pts == AV_NOPTS_VALUE || frame.time_base.den == 0)
        return std::nullopt;
    return static_cast<double>(frame.pts) * av_q2d(frame.time_base);
}

std::string key_points_text(const std::vector<KeyPoint> &points, std::string_view between)
{
    std::string text;
    for (const KeyPoint &point : points)
        add_to_list(text,
                    concat(fixed_text(point.x, 2), between, fixed_text(point.y, 2), between,
                           fixed_text(point.confidence, 4)),
                    ";");
    return text;
}

} // namespace dnn_torch
