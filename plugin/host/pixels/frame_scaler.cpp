// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_scaler.h"

#include "../pipeline/error.h"
#include "../pipeline/size_rule.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace dnn_torch {
namespace {

Size chroma_size(const AVFrame *frame)
{
    const AVPixFmtDescriptor *format =
        av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
    return {AV_CEIL_RSHIFT(frame->width, format->log2_chroma_w),
            AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h)};
}

void prepare(ScalerPointer &scaler, Size from, Size to, AVPixelFormat format)
{
    if (!scaler)
        scaler.reset(sws_getContext(from.width, from.height, format, to.width, to.height, format,
                                    SWS_BICUBIC, nullptr, nullptr, nullptr));
    if (!scaler)
        throw Error(AVERROR(EINVAL), "libswscale cannot scale " + std::to_string(from.width) +
                                         "x" + std::to_string(from.height) + " to " +
                                         std::to_string(to.width) + "x" +
                                         std::to_string(to.height));
}

void scale(SwsContext *scaler, const AVFrame *from, AVFrame *to, int first_plane, int height)
{
    int ret = sws_scale(scaler, from->data + first_plane, from->linesize + first_plane, 0, height,
                        to->data + first_plane, to->linesize + first_plane);
    if (ret < 0)
        throw Error(ret, "libswscale failed");
}

} // namespace

void FrameScaler::scale_chroma(const AVFrame *from, AVFrame *to)
{
    Size old_size = chroma_size(from), new_size = chroma_size(to);
    if (old_size != new_size)
        prepare(chroma_, old_size, new_size, AV_PIX_FMT_GRAY8);
    for (int plane = 1; plane <= 2; plane++) {
        if (old_size == new_size)
            av_image_copy_plane(to->data[plane], to->linesize[plane], from->data[plane],
                                from->linesize[plane], old_size.width, old_size.height);
        else
            scale(chroma_.get(), from, to, plane, old_size.height);
    }
}

void FrameScaler::scale_frame(const AVFrame *from, AVFrame *to)
{
    prepare(frame_, {from->width, from->height}, {to->width, to->height},
            static_cast<AVPixelFormat>(from->format));
    scale(frame_.get(), from, to, 0, from->height);
}

} // namespace dnn_torch
