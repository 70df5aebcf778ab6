// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_text.h"

extern "C" {
#include <libavutil/avutil.h>
}

namespace dnn_torch
{

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

} // namespace dnn_torch
