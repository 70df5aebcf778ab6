// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_scaler.h"

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

const AVPixFmtDescriptor &descriptor(const AVFrame *frame)
{
    return *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
}

bool is_chroma(const AVPixFmtDescriptor &format, int component)
{
    return !(format.flags & AV_PIX_FMT_FLAG_RGB) && format.nb_components >= 3 &&
           (component == 1 || component == 2);
}

Size component_size(const AVFrame *frame, int component)
{
    const AVPixFmtDescriptor &format = descriptor(frame);
    if (!is_chroma(format, component))
        return {.width = frame->width, .height = frame->height};
    return {.width = AV_CEIL_RSHIFT(frame->width, format.log2_chroma_w),
            .height = AV_CEIL_RSHIFT(frame->height, format.log2_chroma_h)};
}

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
                    std::string("frames of ") + format.name + " cannot be scaled past the model");
    }
}

// Where the samples of one component are.
struct Samples {
    uint8_t *data;
    int row_stride, step, shift;

    Samples(const AVFrame *frame, int component)
    {
        const AVComponentDescriptor &described = descriptor(frame).comp[component];
        data = frame->data[described.plane] + described.offset;
        row_stride = frame->linesize[described.plane];
        step = described.step;
        shift = described.shift;
    }

    template <class Sample> Sample *at(int x, int y) const
    {
        return reinterpret_cast<Sample *>(data + static_cast<ptrdiff_t>(y) * row_stride +
                                          static_cast<ptrdiff_t>(x) * step);
    }
};

// Steps are in samples.  Those that compilers know make the loop several times as fast.
template <int known_from, int known_to, class Sample>
void copy_row(const Sample *from, ptrdiff_t from_step, Sample *to, ptrdiff_t to_step, int width)
{
    const ptrdiff_t across = known_from ? known_from : from_step;
    const ptrdiff_t along = known_to ? known_to : to_step;
    for (int x = 0; x < width; x++)
        to[x * along] = from[x * across];
}

template <class Sample>
void copy_row(const Sample *from, ptrdiff_t from_step, Sample *to, ptrdiff_t to_step, int width)
{
    if (from_step == 3 && to_step == 1)
        copy_row<3, 1>(from, from_step, to, to_step, width);
    else if (from_step == 4 && to_step == 1)
        copy_row<4, 1>(from, from_step, to, to_step, width);
    else if (from_step == 2 && to_step == 1)
        copy_row<2, 1>(from, from_step, to, to_step, width);
    else
        copy_row<0, 0>(from, from_step, to, to_step, width);
}

// One of the two shifts is 0.
template <class Sample> void copy_samples(const Samples &from, const Samples &to, Size size)
{
    constexpr ptrdiff_t bytes = sizeof(Sample);
    const ptrdiff_t from_step = from.step / bytes, to_step = to.step / bytes;
    const int down = from.shift, up = to.shift;
    for (int y = 0; y < size.height; y++) {
        const Sample *const source = from.at<Sample>(0, y);
        Sample *const target = to.at<Sample>(0, y);
        if (down == 0 && up == 0) {
            copy_row(source, from_step, target, to_step, size.width);
            continue;
        }
        for (int x = 0; x < size.width; x++)
            target[x * to_step] = static_cast<Sample>(source[x * from_step] >> down << up);
    }
}

void copy_samples(const Samples &from, const Samples &to, Size size, int bytes)
{
    if (bytes == 1)
        copy_samples<uint8_t>(from, to, size);
    else if (bytes == 2)
        copy_samples<uint16_t>(from, to, size);
    else
        copy_samples<uint32_t>(from, to, size);
}

void run(SwsContext *scaler, const Samples &from, int height, const Samples &to)
{
    const uint8_t *const source[4] = {from.data};
    uint8_t *const target[4] = {to.data};
    const int source_strides[4] = {from.row_stride}, target_strides[4] = {to.row_stride};
    int ret = sws_scale(scaler, source, source_strides, 0, height, target, target_strides);
    if (ret < 0)
        throw Error(ret, "libswscale failed");
}

bool shares_seen_plane(const AVPixFmtDescriptor &format, int channels, int component)
{
    for (int c = 0; c < channels; c++)
        if (format.comp[c].plane == format.comp[component].plane)
            return true;
    return false;
}

void copy_plane(const AVFrame *from, AVFrame *to, int plane, int height)
{
    int bytes = av_image_get_linesize(static_cast<AVPixelFormat>(to->format), to->width, plane);
    av_image_copy_plane(to->data[plane], to->linesize[plane], from->data[plane],
                        from->linesize[plane], bytes, height);
}

// Fills the byte of each pixel that is no component, as in 0rgb.
void fill_padding(AVFrame *frame)
{
    const auto format = static_cast<AVPixelFormat>(frame->format);
    RowLayout layout = row_layout(format, model_channels(format));
    if (layout.rest < 0 || descriptor(frame).flags & AV_PIX_FMT_FLAG_ALPHA)
        return;
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++)
            frame->data[0][y * frame->linesize[0] + x * layout.group + layout.rest] = 255;
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
    prepare(old_size, new_size, grey);

    Samples source(from, component), target(to, component);
    const bool from_apart = source.step != bytes || source.shift != 0;
    const bool to_apart = target.step != bytes || target.shift != 0;
    if (from_apart && !before_)
        before_ = FramePool(grey, old_size).take();
    if (to_apart && !after_)
        after_ = FramePool(grey, new_size).take();
    const Samples old_plane = from_apart ? Samples(before_.get(), 0) : source;
    const Samples new_plane = to_apart ? Samples(after_.get(), 0) : target;
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
        const Size size = component_size(from, c);
        if (size != component_size(to, c))
            scale_component(from, to, c);
        else if (!shares_seen_plane(format, channels, c) && format.comp[c].offset == 0)
            copy_plane(from, to, format.comp[c].plane, size.height);
    }
}

void FrameScaler::scale_frame(const AVFrame *from, AVFrame *to)
{
    for (int c = 0; c < descriptor(from).nb_components; c++)
        scale_component(from, to, c);
    fill_padding(to);
}

void ResultScaler::scale(const AVFrame *made, const AVFrame *source, AVFrame *result,
                         const Components &components)
{
    const AVPixFmtDescriptor &format = descriptor(result);
    for (int c = 0; c < format.nb_components; c++)
        if (c >= components.first && c < components.first + components.count)
            seen_.scale(made, result, c);
        else
            (is_chroma(format, c) ? chroma_ : full_).scale(source, result, c);
    fill_padding(result);
}

} // namespace dnn_torch
