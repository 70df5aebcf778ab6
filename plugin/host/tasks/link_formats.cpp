// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link_formats.h"

#include "host/frames/formats.h"

#include <cstdint>

namespace dnn_torch
{
namespace
{

// The list includes the formats that such pictures are converted to and from.
const AVPixelFormat *input_formats(Channels channels)
{
    switch (channels) {
    case Channels::rgb:
        return formats_with_colours();
    case Channels::luma:
        return formats_with_luma_first();
    case Channels::rgba:
        return rgb_formats_with_alpha();
    default:
        return formats_for_any_model();
    }
}

LinkFormats like_frames(const AVPixelFormat *formats)
{
    return {.in = formats, .out = nullptr};
}

const AVPixFmtDescriptor &described(AVPixelFormat format)
{
    return *av_pix_fmt_desc_get(format);
}

bool has(AVPixelFormat format, uint64_t flag)
{
    return (described(format).flags & flag) != 0;
}

// Returns whether `result` can hold the whole output for a frame of format `frame`.  Results for
// yuvj* may be yuv* of the limited range, as ffmpeg's scaler makes of it: many encoders take no
// other, and would get RGB.
bool holds_results_of(AVPixelFormat frame, AVPixelFormat result)
{
    const AVPixFmtDescriptor &from = described(frame), &to = described(result);
    if (has(result, AV_PIX_FMT_FLAG_ALPHA) || to.comp[0].depth < from.comp[0].depth)
        return false;
    if (has(result, AV_PIX_FMT_FLAG_RGB))
        return row_layout(result, 3).unseen < 0;
    return (has_forced_range(frame) || !has_forced_range(result)) &&
           to.log2_chroma_w <= from.log2_chroma_w && to.log2_chroma_h <= from.log2_chroma_h;
}

} // namespace

// For as=alpha, frames are required to have alpha, which libavfilter adds without loss.  So results
// have the frame's format, and its colours bit by bit.
LinkFormats link_formats(const FoundChannels &found, As as)
{
    const int in = count_of(found.channels), out = found.made ? found.made : in;
    if (as == As::alpha)
        return like_frames(in == 4 ? rgb_formats_with_alpha() : formats_with_alpha(in));
    if (as == As::lab)
        return {.in = formats_with_luma_first(), .out = formats_with_colours()};
    const bool makes_grey = as == As::grey || as == As::depth;
    if (!makes_grey && (found.channels == Channels::any || in == out))
        return like_frames(input_formats(found.channels));
    // Luma of YUV has a range of its own and is not grey.
    if (in == 1 && out == 1)
        return like_frames(grey_formats());
    if (in == 1)
        return {.in = grey_formats(),
                .out = out == 4 ? rgb_formats_with_alpha() : opaque_rgb_formats()};
    if (out == 1)
        return {.in = in == 4 ? rgb_formats_with_alpha() : formats_with_colours(),
                .out = grey_formats()};
    return like_frames(rgb_formats_with_alpha());
}

std::vector<AVPixelFormat> results_like(AVPixelFormat format, int channels)
{
    std::vector<AVPixelFormat> results = {format};
    if (needs_colours(format, channels) && !has(format, AV_PIX_FMT_FLAG_ALPHA))
        for (const AVPixelFormat *other = formats_with_colours(); *other != AV_PIX_FMT_NONE;
             other++)
            if (*other != format && holds_results_of(format, *other))
                results.push_back(*other);
    return results;
}

std::vector<AVPixelFormat> coloured_results(AVPixelFormat format)
{
    if (described(format).nb_components >= 3)
        return results_like(format, 3);
    return result_formats_for(format, has(format, AV_PIX_FMT_FLAG_ALPHA) ? rgb_formats_with_alpha()
                                                                         : opaque_rgb_formats());
}

std::vector<AVPixelFormat> result_formats_for(AVPixelFormat format, const AVPixelFormat *results)
{
    const auto is_byte = [](AVPixelFormat other) { return described(other).comp[0].depth == 8; };
    const bool is_grey = described(format).nb_components < 3;
    std::vector<AVPixelFormat> fitting;
    for (; *results != AV_PIX_FMT_NONE; results++)
        if (!is_grey || is_byte(*results) == is_byte(format))
            fitting.push_back(*results);
    return fitting;
}

} // namespace dnn_torch
