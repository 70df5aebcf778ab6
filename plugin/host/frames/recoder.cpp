// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recoder.h"

#include "formats.h"
#include "frame_converter.h"
#include "frame_pool.h"
#include "lab.h"
#include "picture.h"

#include <algorithm>

namespace dnn_torch
{
namespace
{

AVPixelFormat format_of(const AVFrame *frame)
{
    return static_cast<AVPixelFormat>(frame->format);
}

bool is_yuv(AVPixelFormat format)
{
    return !is_rgb(format) && av_pix_fmt_desc_get(format)->nb_components >= 3;
}

AVPixelFormat without_subsampling(AVPixelFormat format)
{
    return is_yuv(format) ? full_chroma_format(format) : format;
}

// Returns `kept`, a frame like `frame` but of that format, after allocating it at the first call.
AVFrame *full_like(const AVFrame *frame, AVPixelFormat format, FramePointer &kept)
{
    if (!kept)
        kept = FramePool(format, {frame->width, frame->height}).take();
    kept->colorspace = frame->colorspace;
    kept->color_range = frame->color_range;
    return kept.get();
}

// Gray becomes R, G and B.
void read_channels(const RowLayout &layout, const FrameRow &from, int channels,
                   const FloatRow &floats, size_t width)
{
    read_row(layout, from, floats, width);
    for (int c = layout.channels; c < channels; c++)
        std::copy_n(floats.channel[0], width, floats.channel[c]);
}

// Samples that share rows with the copied ones come from `kept`, which may be null or `to` itself.
void copy_rows(const AVFrame *from, AVFrame *to, const AVFrame *kept, int channels, Part part,
               const FloatRow &floats, Recoding recoding)
{
    const bool is_grey = !is_rgb(format_of(from)) && !is_yuv(format_of(from));
    const PictureLayout in(from, is_grey ? 1 : channels, {}, part), out(to, channels, {}, part);
    const auto width = static_cast<size_t>(from->width);
    for (int y = 0; y < from->height; y++) {
        read_channels(in.row, frame_row(from, in.row, y), channels, floats, width);
        if (recoding == Recoding::to_lab)
            lab_of_rgb(floats, width);
        else if (recoding == Recoding::from_lab)
            rgb_of_lab(floats, width);
        const FrameRow others = kept ? frame_row(kept, out.row, y) : FrameRow{};
        write_row(out.row, floats, kept ? &others : nullptr, frame_row(to, out.row, y), width);
    }
}

} // namespace

WorkFormats work_formats(AVPixelFormat in, AVPixelFormat out, int channels)
{
    if (channels == 1 && is_rgb(in)) {
        const AVPixelFormat yuv = has_alpha(in) ? AV_PIX_FMT_YUVA444P16 : AV_PIX_FMT_YUV444P16;
        return {.taken = yuv, .made = out == in ? yuv : out};
    }
    if (channels == 1 || is_rgb(in))
        return {.taken = in, .made = out};
    const AVPixelFormat full = full_chroma_format(in);
    if (!is_rgb(out) && !is_yuv(out))
        return {.taken = full, .made = out};
    if (!is_rgb(out) && full_chroma_format(out) == full)
        return {.taken = full, .made = full};
    return {.taken = AV_PIX_FMT_GBRPF32, .made = AV_PIX_FMT_GBRPF32};
}

WorkFormats lab_formats(AVPixelFormat in)
{
    const AVPixelFormat lab = has_alpha(in) ? AV_PIX_FMT_GBRAPF32 : AV_PIX_FMT_GBRPF32;
    return {.taken = lab, .made = lab, .are_lab = true};
}

void Recoder::recode(const AVFrame *from, AVFrame *to, const AVFrame *kept)
{
    constexpr int channels = 3;
    rows_.resize(static_cast<size_t>(from->width) * channels);
    FloatRow floats{};
    for (ptrdiff_t c = 0; c < channels; c++)
        floats.channel[c] = rows_.data() + c * from->width;
    floats.step = 1;
    copy_rows(from, to, kept, channels, Part::seen, floats, recoding_);
    if (has_alpha(format_of(from)) && has_alpha(format_of(to)))
        copy_rows(from, to, to, 1, Part::alpha, floats, Recoding::plain);
}

void Recoder::convert(const AVFrame *from, AVFrame *to, const AVFrame *kept)
{
    const AVPixelFormat full_from = without_subsampling(format_of(from)),
                        full_to = without_subsampling(format_of(to));
    if (recoding_ == Recoding::plain && full_from == format_of(to))
        return chroma_.widen(from, to);
    if (recoding_ == Recoding::plain && full_to == format_of(from))
        return chroma_.narrow(from, to);
    if (full_from != format_of(from)) {
        AVFrame *const full = full_like(from, full_from, full_from_);
        chroma_.widen(from, full);
        from = full;
    }
    if (full_to == format_of(to))
        return recode(from, to, kept);
    AVFrame *const full = full_like(to, full_to, full_to_);
    recode(from, full, nullptr);
    chroma_.narrow(full, to);
}

void carry_colour_properties(const AVFrame *from, AVFrame *to)
{
    if (is_rgb(format_of(from)) == is_rgb(format_of(to))) {
        const bool loses_range =
            has_forced_range(format_of(from)) && !has_forced_range(format_of(to));
        to->colorspace = from->colorspace;
        to->color_range =
            loses_range && is_yuv(format_of(to)) ? AVCOL_RANGE_MPEG : from->color_range;
        to->chroma_location = from->chroma_location;
        return;
    }
    set_colour_properties(to);
    if (is_yuv(format_of(to)))
        to->color_range = AVCOL_RANGE_MPEG;
}

} // namespace dnn_torch
