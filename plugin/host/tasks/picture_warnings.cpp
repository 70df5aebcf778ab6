// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_warnings.h"

#include "host/probing/range_warning.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace dnn_torch
{
namespace
{

// FFmpeg marks such frames with a flag since 6.1.
bool is_interlaced(const AVFrame &frame)
{
#ifdef AV_FRAME_FLAG_INTERLACED
    return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    return frame.interlaced_frame != 0;
#endif
}

bool passes_any_number(const FrameJob &job)
{
    const AVPixFmtDescriptor *const format = av_pix_fmt_desc_get(job.plan->input.format);
    return (format->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
}

} // namespace

void PictureWarnings::look_at(FrameJob &job, const Images &in, const Images &out)
{
    look_at_fields(job);
    if (contract_.as == As::depth || looks_left_ <= 0 || passes_any_number(job))
        return;
    looks_left_--;
    const RangeWarning warning = warning_of_range(contract_, in, out);
    if (warning.words.empty() || looks_left_.exchange(0) <= 0)
        return;
    job.notes.push_back(warning.words);
}

void PictureWarnings::look_at_fields(FrameJob &job)
{
    for (const FrameItem &item : job.items)
        if (item.frame && is_interlaced(*item.frame) && !warned_of_fields_.exchange(true))
            job.notes.emplace_back("the frames are interlaced, and the model takes them for "
                                   "progressive ones: put bwdif before the filter");
}

} // namespace dnn_torch
