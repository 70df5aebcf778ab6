// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_scaler.h"

#include "component_samples.h"
#include "formats.h"
#include "frame_pool.h"
#include "host/error.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <cstdint>

namespace dnn_torch
{
namespace
{

// Returns the grey format whose samples are like those of `format`.
AVPixelFormat grey_like(const AVPixFmtDescriptor &format)
{
    if (format.flags & AV_PIX_FMT_FLAG_FLOAT)
        return AV_PIX_FMT_GRAYF32;
    switch (format.comp[0].depth) {
    case 8:
        return AV_PIX_FMT_GRAY8;
    case 9:
        return AV_PIX_FMT_GRAY9;
    case 10:
        return AV_PIX_FMT_GRAY10;
    case 12:
        return AV_PIX_FMT_GRAY12;
    case 14:
        return AV_PIX_FMT_GRAY14;
    case 16:
        return AV_PIX_FMT_GRAY16;
    default:
        throw Error(AVERROR(ENOSYS),
                    std::string("components of ") + format.name + " cannot be scaled");
    }
}

void run(SwsContext *scaler, const ComponentSamples &from, int height, const ComponentSamples &to)
{
    const uint8_t *const source[4] = {from.data};
    uint8_t *const target[4] = {to.data};
    const int source_strides[4] = {from.row_stride}, target_strides[4] = {to.row_stride};
    int ret = sws_scale(scaler, source, source_strides, 0, height, target, target_strides);
    if (ret < 0)
        throw Error(ret, "libswscale failed");
}

bool shares_plane(const AVPixFmtDescriptor &format, const Components &with, int component)
{
    for (int c = with.first; c < with.first + with.count; c++)
        if (format.comp[c].plane == format.comp[component].plane)
            return true;
    return false;
}

// Copies the component's plane, unless that also holds some of `others`: then write_picture()
// fills it.
void copy_plane(const AVFrame *from, AVFrame *to, int component, const Components &others)
{
    const AVPixFmtDescriptor &format = descriptor(from);
    const int plane = format.comp[component].plane;
    if (shares_plane(format, others, component) || format.comp[component].offset != 0)
        return;
    int bytes = av_image_get_linesize(static_cast<AVPixelFormat>(to->format), to->width, plane);
    av_image_copy_plane(to->data[plane], to->linesize[plane], from->data[plane],
                        from->linesize[plane], bytes, component_size(from, component).height);
}

// Fills the byte of each pixel that belongs to no component, as in 0rgb.
void fill_padding(AVFrame *frame)
{
    const auto format = static_cast<AVPixelFormat>(frame->format);
    RowLayout layout = row_layout(format, model_channels(format));
    if (layout.unseen < 0 || descriptor(frame).flags & AV_PIX_FMT_FLAG_ALPHA)
        return;
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++)
            frame->data[0][y * frame->linesize[0] + x * layout.group + layout.unseen] = 255;
}

} // namespace

const int bicubic = SWS_BICUBIC;
const int sharp = SWS_LANCZOS | SWS_ACCURATE_RND;
const int bilinear = SWS_BILINEAR | SWS_ACCURATE_RND;

void ComponentScaler::prepare(Size old_size, Size new_size, AVPixelFormat grey)
{
    if (!scaler_)
        scaler_.reset(sws_getContext(old_size.width, old_size.height, grey, new_size.width,
                                     new_size.height, grey, kernel_, nullptr, nullptr, nullptr));
    if (!scaler_)
        throw Error(AVERROR(EINVAL),
                    "libswscale cannot scale " + to_text(old_size) + " to " + to_text(new_size));
}

void ComponentScaler::scale(const AVFrame *from, AVFrame *to, int component)
{
    const AVPixFmtDescriptor &format = descriptor(from);
    const AVPixelFormat grey = grey_like(format);
    const Size old_size = component_size(from, component), new_size = component_size(to, component);
    const int bytes = sample_bytes(format);
    ComponentSamples source(from, component), target(to, component);
    if (old_size == new_size) // libswscale copies a quarter of each row of floats
        return copy_samples(source, target, new_size, bytes);
    prepare(old_size, new_size, grey);
    const bool from_apart = source.step != bytes || source.shift != 0;
    const bool to_apart = target.step != bytes || target.shift != 0;
    if (from_apart && !before_)
        before_ = FramePool(grey, old_size).take();
    if (to_apart && !after_)
        after_ = FramePool(grey, new_size).take();
    const ComponentSamples old_plane = from_apart ? ComponentSamples(before_.get(), 0) : source;
    const ComponentSamples new_plane = to_apart ? ComponentSamples(after_.get(), 0) : target;
    if (from_apart)
        copy_samples(source, old_plane, old_size, bytes);
    run(scaler_.get(), old_plane, old_size.height, new_plane);
    if (to_apart)
        copy_samples(new_plane, target, new_size, bytes);
}

void FrameScaler::scale_component(const AVFrame *from, AVFrame *to, int component)
{
    ComponentScaler &scaler = is_chroma(descriptor(from), component) ? chroma_ : full_;
    scaler.scale(from, to, component);
}

void FrameScaler::carry_unseen(const AVFrame *from, AVFrame *to, int channels)
{
    const AVPixFmtDescriptor &format = descriptor(from);
    for (int c = channels; c < format.nb_components; c++) {
        if (component_size(from, c) != component_size(to, c))
            scale_component(from, to, c);
        else
            copy_plane(from, to, c, {.first = 0, .count = channels});
    }
}

void copy_all_but(Part part, const AVFrame *from, AVFrame *to)
{
    const auto format = static_cast<AVPixelFormat>(from->format);
    const Components left_out = components_of(format, model_channels(format), part);
    for (int c = 0; c < descriptor(from).nb_components; c++)
        copy_plane(from, to, c, left_out);
}

void FrameScaler::scale_frame(const AVFrame *from, AVFrame *to)
{
    for (int c = 0; c < descriptor(from).nb_components; c++)
        scale_component(from, to, c);
    fill_padding(to);
}

void ResultScaler::scale(const AVFrame *output, const AVFrame *source, AVFrame *result,
                         const Components &components)
{
    const AVPixFmtDescriptor &format = descriptor(result);
    for (int c = 0; c < format.nb_components; c++)
        if (c >= components.first && c < components.first + components.count)
            seen_.scale(output, result, c);
        else
            (is_chroma(format, c) ? chroma_ : full_).scale(source, result, c);
    fill_padding(result);
}

} // namespace dnn_torch
