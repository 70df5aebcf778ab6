// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_converter.h"

#include "colours.h"
#include "host/error.h"
#include "host/size.h"

#include <string>

extern "C" {
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace dnn_torch
{
namespace
{

AVPixelFormat format_of(const AVFrame *frame)
{
    return static_cast<AVPixelFormat>(frame->format);
}

std::string in_words(const AVFrame *frame)
{
    return std::string(av_get_pix_fmt_name(format_of(frame))) + " of " +
           to_text({frame->width, frame->height});
}

// Grey and RGB have the full range, whatever the frame says.
bool has_full_range(const AVFrame *frame)
{
    const AVPixFmtDescriptor &described = *av_pix_fmt_desc_get(format_of(frame));
    return is_full_range(frame) || described.nb_components < 3 ||
           (described.flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

} // namespace

void FrameConverter::prepare(const AVFrame *from, const AVFrame *to)
{
    scaler_.reset(sws_getContext(from->width, from->height, format_of(from), to->width, to->height,
                                 format_of(to), SWS_BICUBIC | SWS_ACCURATE_RND, nullptr, nullptr,
                                 nullptr));
    if (!scaler_)
        throw Error(AVERROR(EINVAL), "frames that the timeline excludes cannot become " +
                                         in_words(to) + " of " + in_words(from) +
                                         "; put format=rgb24 before the filter");
    const int *const matrix = matrix_of(from);
    constexpr int unit = 1 << 16;
    sws_setColorspaceDetails(scaler_.get(), matrix, has_full_range(from), matrix, 1, 0, unit, unit);
}

void FrameConverter::convert(const AVFrame *from, AVFrame *to)
{
    if (!scaler_)
        prepare(from, to);
    int ret = sws_scale(scaler_.get(), from->data, from->linesize, 0, from->height, to->data,
                        to->linesize);
    if (ret < 0)
        throw Error(ret, "libswscale failed");
}

void set_colour_properties(AVFrame *frame)
{
    const AVPixFmtDescriptor &described = *av_pix_fmt_desc_get(format_of(frame));
    const bool is_rgb = described.flags & AV_PIX_FMT_FLAG_RGB;
    const bool is_float = described.flags & AV_PIX_FMT_FLAG_FLOAT;
    frame->colorspace = is_rgb ? AVCOL_SPC_RGB : AVCOL_SPC_UNSPECIFIED;
    frame->color_range = is_float ? AVCOL_RANGE_UNSPECIFIED : AVCOL_RANGE_JPEG;
    frame->chroma_location = AVCHROMA_LOC_UNSPECIFIED;
}

} // namespace dnn_torch
