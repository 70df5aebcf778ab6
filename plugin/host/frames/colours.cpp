// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "colours.h"

#include "formats.h"

extern "C" {
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace dnn_torch
{
namespace
{

// The weights of red and blue in luma (ITU-T H.273).
struct LumaShares {
    double red, blue;
    double green() const { return 1 - red - blue; }
};

LumaShares luma_shares(AVColorSpace matrix)
{
    switch (matrix) {
    case AVCOL_SPC_BT709:
        return {.red = 0.2126, .blue = 0.0722};
    case AVCOL_SPC_FCC:
        return {.red = 0.30, .blue = 0.11};
    case AVCOL_SPC_SMPTE240M:
        return {.red = 0.212, .blue = 0.087};
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
        return {.red = 0.2627, .blue = 0.0593};
    default:
        return {.red = 0.299, .blue = 0.114};
    }
}

// The black level and extent of luma, and the middle and extent of chroma, as fractions of the
// format's largest value.
struct Range {
    double black, luma, middle, chroma;
};

Range range_of(const AVFrame *frame, int depth)
{
    const double white = (1 << depth) - 1, step = 1 << (depth - 8);
    const double middle = 128 * step / white;
    if (is_full_range(frame))
        return {.black = 0, .luma = 1, .middle = middle, .chroma = 1};
    return {.black = 16 * step / white,
            .luma = 219 * step / white,
            .middle = middle,
            .chroma = 224 * step / white};
}

void set(float (&row)[4], double first, double second, double third, double constant)
{
    row[0] = static_cast<float>(first);
    row[1] = static_cast<float>(second);
    row[2] = static_cast<float>(third);
    row[3] = static_cast<float>(constant);
}

void set_to_rgb(Colours &colours, const LumaShares &share, const Range &range)
{
    const double luma = 1 / range.luma, blue = 2 * (1 - share.blue) / range.chroma,
                 red = 2 * (1 - share.red) / range.chroma;
    const double green_blue = -blue * share.blue / share.green(),
                 green_red = -red * share.red / share.green();
    const double black = -range.black * luma;
    set(colours.to_rgb[0], luma, 0, red, black - range.middle * red);
    set(colours.to_rgb[1], luma, green_blue, green_red,
        black - range.middle * (green_blue + green_red));
    set(colours.to_rgb[2], luma, blue, 0, black - range.middle * blue);
}

void set_from_rgb(Colours &colours, const LumaShares &share, const Range &range)
{
    const double blue = range.chroma / (2 * (1 - share.blue)),
                 red = range.chroma / (2 * (1 - share.red));
    set(colours.from_rgb[0], share.red * range.luma, share.green() * range.luma,
        share.blue * range.luma, range.black);
    set(colours.from_rgb[1], -share.red * blue, -share.green() * blue, (1 - share.blue) * blue,
        range.middle);
    set(colours.from_rgb[2], (1 - share.red) * red, -share.green() * red, -share.blue * red,
        range.middle);
}

} // namespace

bool is_full_range(const AVFrame *frame)
{
    return has_forced_range(static_cast<AVPixelFormat>(frame->format)) ||
           frame->color_range == AVCOL_RANGE_JPEG;
}

Colours colours_of(const AVFrame *frame)
{
    const auto format = static_cast<AVPixelFormat>(frame->format);
    const Range range = range_of(frame, av_pix_fmt_desc_get(format)->comp[0].depth);
    const LumaShares share = luma_shares(frame->colorspace);
    Colours colours{};
    set_to_rgb(colours, share, range);
    set_from_rgb(colours, share, range);
    return colours;
}

const int *matrix_of(const AVFrame *frame)
{
    const bool is_known =
        frame->colorspace != AVCOL_SPC_RGB && frame->colorspace != AVCOL_SPC_UNSPECIFIED;
    return sws_getCoefficients(is_known ? static_cast<int>(frame->colorspace) : SWS_CS_DEFAULT);
}

} // namespace dnn_torch
