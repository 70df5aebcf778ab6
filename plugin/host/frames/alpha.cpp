// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "alpha.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace dnn_torch
{

void copy_all_but_alpha(const AVFrame *from, AVFrame *to)
{
    const auto format = static_cast<AVPixelFormat>(from->format);
    const AVPixFmtDescriptor &described = *av_pix_fmt_desc_get(format);
    const int alpha = described.comp[described.nb_components - 1].plane;
    const bool has_chroma = !(described.flags & AV_PIX_FMT_FLAG_RGB);
    for (int plane = 0; plane < av_pix_fmt_count_planes(format); plane++) {
        if (plane == alpha)
            continue;
        const bool is_chroma = has_chroma && (plane == 1 || plane == 2);
        const int shift = is_chroma ? described.log2_chroma_h : 0;
        av_image_copy_plane(
            to->data[plane], to->linesize[plane], from->data[plane], from->linesize[plane],
            av_image_get_linesize(format, from->width, plane), AV_CEIL_RSHIFT(from->height, shift));
    }
}

} // namespace dnn_torch
