// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_feeder.h"

#include "colours.h"
#include "formats.h"
#include "frame_pool.h"
#include "host/error.h"
#include "host/workers/fork_gate.h"
#include "picture.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace dnn_torch
{
namespace
{

AVPixelFormat format_of(const AVFrame *frame)
{
    return static_cast<AVPixelFormat>(frame->format);
}

const AVPixFmtDescriptor &described(AVPixelFormat format)
{
    return *av_pix_fmt_desc_get(format);
}

bool is_grey(AVPixelFormat format)
{
    return described(format).nb_components < 3;
}

bool is_in(const AVPixelFormat *list, AVPixelFormat format)
{
    for (; *list != AV_PIX_FMT_NONE; list++)
        if (*list == format)
            return true;
    return false;
}

enum class Colour { grey, rgb, rgba, yuv };

// Returns which components of a frame a model of so many channels sees.
Colour colour_seen(AVPixelFormat format, int channels)
{
    if (channels == 1 || is_grey(format))
        return Colour::grey;
    if (!is_rgb(format))
        return Colour::yuv;
    return channels == 4 ? Colour::rgba : Colour::rgb;
}

int components_seen(Colour colour)
{
    return colour == Colour::grey ? 1 : colour == Colour::rgba ? 4 : 3;
}

// Planar formats without subsampling.
struct PlanarFormats {
    int depth;
    AVPixelFormat grey, rgb, rgba, yuv;
};

constexpr PlanarFormats planar_formats[] = {
    {8, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GBRP, AV_PIX_FMT_GBRAP, AV_PIX_FMT_YUV444P},
    {9, AV_PIX_FMT_GRAY9, AV_PIX_FMT_GBRP9, AV_PIX_FMT_NONE, AV_PIX_FMT_YUV444P9},
    {10, AV_PIX_FMT_GRAY10, AV_PIX_FMT_GBRP10, AV_PIX_FMT_GBRAP10, AV_PIX_FMT_YUV444P10},
    {12, AV_PIX_FMT_GRAY12, AV_PIX_FMT_GBRP12, AV_PIX_FMT_GBRAP12, AV_PIX_FMT_YUV444P12},
#ifdef AV_PIX_FMT_GBRAP14
    {14, AV_PIX_FMT_GRAY14, AV_PIX_FMT_GBRP14, AV_PIX_FMT_GBRAP14, AV_PIX_FMT_YUV444P14},
#else
    {14, AV_PIX_FMT_GRAY14, AV_PIX_FMT_GBRP14, AV_PIX_FMT_NONE, AV_PIX_FMT_YUV444P14},
#endif
    {16, AV_PIX_FMT_GRAY16, AV_PIX_FMT_GBRP16, AV_PIX_FMT_GBRAP16, AV_PIX_FMT_YUV444P16},
    {32, AV_PIX_FMT_GRAYF32, AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GBRAPF32, AV_PIX_FMT_NONE},
};

AVPixelFormat planar_format(int depth, Colour colour)
{
    for (const PlanarFormats &formats : planar_formats)
        if (formats.depth == depth)
            return colour == Colour::grey  ? formats.grey
                   : colour == Colour::yuv ? formats.yuv
                   : colour == Colour::rgb ? formats.rgb
                                           : formats.rgba;
    return AV_PIX_FMT_NONE;
}

// Returns the format in which frames of `format` are scaled.
AVPixelFormat format_between(AVPixelFormat format, int channels)
{
    const AVPixelFormat between =
        planar_format(described(format).comp[0].depth, colour_seen(format, channels));
    if (between == AV_PIX_FMT_NONE)
        throw Error(AVERROR(ENOSYS), std::string("frames of ") + described(format).name +
                                         " cannot be fed to the model; put format=rgb24 before "
                                         "the filter");
    return between;
}

// Whether read_picture() takes the format.
bool is_read_directly(AVPixelFormat format, int channels)
{
    if (channels == 1)
        return true;
    return !is_grey(format) && (channels == 4 || is_in(formats_for_rgb_models(), format));
}

bool is_unscaled(const Placement &placement, Size frame)
{
    return placement.source == Region{.x = 0, .y = 0, .size = frame} &&
           placement.source.size == placement.target.size;
}

void carry_colours(const AVFrame *from, AVFrame *to)
{
    to->colorspace = from->colorspace;
    to->color_range = is_full_range(from) ? AVCOL_RANGE_JPEG : from->color_range;
}

FramePointer new_window()
{
    FramePointer window(av_frame_alloc());
    if (!window)
        throw std::bad_alloc();
    return window;
}

// Points `window` to the region of the frame.
void point_to(const AVFrame *frame, const Region &region, AVFrame *window)
{
    const AVPixFmtDescriptor &format = described(format_of(frame));
    window->format = frame->format;
    window->width = region.size.width;
    window->height = region.size.height;
    const Size unit = chroma_unit(format_of(frame));
    for (int c = 0; c < format.nb_components; c++) {
        const AVComponentDescriptor &component = format.comp[c];
        const bool is_chroma = c == 1 || c == 2;
        const int x = is_chroma ? region.x / unit.width : region.x;
        const int y = is_chroma ? region.y / unit.height : region.y;
        window->linesize[component.plane] = frame->linesize[component.plane];
        window->data[component.plane] =
            frame->data[component.plane] +
            static_cast<ptrdiff_t>(y) * frame->linesize[component.plane] +
            static_cast<ptrdiff_t>(x) * component.step;
    }
}

void fill(const FloatRow &row, int channel, int from, int to, float value)
{
    for (int x = from; x < to; x++)
        row.channel[channel][x * row.step] = value;
}

} // namespace

const AVPixelFormat *formats_to_feed(int channels)
{
    return channels == 4   ? rgb_formats_with_alpha()
           : channels == 1 ? formats_for_luma_models()
                           : formats_for_any_model();
}

const AVPixelFormat *formats_to_feed_with_alpha(int channels)
{
    return channels == 4   ? rgb_formats_with_alpha()
           : channels == 1 ? formats_with_alpha(1)
                           : any_formats_with_alpha();
}

Size chroma_unit(AVPixelFormat format)
{
    return {1 << described(format).log2_chroma_w, 1 << described(format).log2_chroma_h};
}

void FrameFeeder::feed(const AVFrame *frame, const Placement &placement, const Images &images,
                       int index)
{
    const bool is_direct = is_read_directly(format_of(frame), images.channels) &&
                           is_unscaled(placement, {frame->width, frame->height});
    const AVFrame *seen = is_direct ? frame : scale(frame, placement, images.channels);
    if (images.channels != 1 && is_grey(format_of(seen)))
        seen = as_rgb(seen);
    read_picture(seen, numbers_, part_of(images, placement.target), index, Gamut::cut);
    fill_border(placement.target, images, index);
}

void FrameFeeder::prepare(const AVFrame *frame, const Placement &placement, int channels)
{
    if (scaling_.format == format_of(frame) && scaling_.placement == placement &&
        scaling_.channels == channels)
        return;
    NoFork no_fork; // frames and their pools use locks of libavutil
    scaling_ = {.format = format_of(frame), .placement = placement, .channels = channels};
    const AVPixelFormat between = format_between(scaling_.format, channels);
    scaling_.scaled = FramePool(between, placement.target.size).take();
    for (int c = 0; c < components_seen(colour_seen(scaling_.format, channels)); c++)
        scaling_.scalers[static_cast<size_t>(c)].emplace(bilinear);
    if (!window_)
        window_ = new_window();
}

const AVFrame *FrameFeeder::scale(const AVFrame *frame, const Placement &placement, int channels)
{
    prepare(frame, placement, channels);
    point_to(frame, placement.source, window_.get());
    for (size_t c = 0; c < scaling_.scalers.size(); c++)
        if (scaling_.scalers[c])
            scaling_.scalers[c]->scale(window_.get(), scaling_.scaled.get(), static_cast<int>(c));
    carry_colours(frame, scaling_.scaled.get());
    return scaling_.scaled.get();
}

// Each of the three planes is the grey one.
const AVFrame *FrameFeeder::as_rgb(const AVFrame *grey)
{
    if (!spread_) {
        NoFork no_fork;
        spread_ = new_window();
    }
    spread_->format = planar_format(described(format_of(grey)).comp[0].depth, Colour::rgb);
    spread_->width = grey->width;
    spread_->height = grey->height;
    for (int plane = 0; plane < 3; plane++) {
        spread_->data[plane] = grey->data[0];
        spread_->linesize[plane] = grey->linesize[0];
    }
    return spread_.get();
}

void FrameFeeder::fill_border(const Region &inside, const Images &images, int index) const
{
    const NumberMap map = map_of(numbers_);
    const int right = inside.x + inside.size.width, bottom = inside.y + inside.size.height;
    for (int c = 0; c < images.channels; c++) {
        const float share = c == 3 ? 1 : border_; // the border is opaque
        const float value = share * map.factor[c] + map.offset[c];
        for (int y = 0; y < images.height; y++) {
            const FloatRow row = image_row(images, index, y);
            const bool is_beside = y >= inside.y && y < bottom;
            fill(row, c, 0, is_beside ? inside.x : images.width, value);
            if (is_beside)
                fill(row, c, right, images.width, value);
        }
    }
}

} // namespace dnn_torch
