// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "integer_samples.h"

#include "picture.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>
#include <limits>

namespace dnn_torch
{
namespace
{

// The rows of one plane, or of packed pixels.
struct Rows {
    uint8_t *data;
    int stride;
};

Rows frame_rows(const AVFrame *frame, int channel)
{
    int plane = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format))->comp[channel].plane;
    return {.data = frame->data[plane], .stride = frame->linesize[plane]};
}

Rows image_rows(const Images &images, int index, int channel)
{
    return {.data = static_cast<uint8_t *>(images.data) + index * images.batch_stride +
                    channel * images.channel_stride,
            .stride = static_cast<int>(images.row_stride)};
}

template <class Copy> void for_each_plane(const Images &images, const Copy &copy)
{
    bool side_by_side = images.channels > 1 && images.column_stride > images.channel_stride;
    int planes = side_by_side ? 1 : images.channels;
    for (int channel = 0; channel < planes; channel++)
        copy(channel, static_cast<int>(images.column_stride * images.width));
}

// Filters and encoders use samples as table indices, so none may exceed white.  Another process may
// share the memory of `from`, so what is limited is the copy.
void copy_limited(const Rows &to, const Rows &from, int bytes, int height, uint16_t white)
{
    av_image_copy_plane(to.data, to.stride, from.data, from.stride, bytes, height);
    for (int y = 0; y < height; y++) {
        auto *row = reinterpret_cast<uint16_t *>(to.data + static_cast<ptrdiff_t>(y) * to.stride);
        for (int i = 0; i < bytes / 2; i++)
            row[i] = std::min(row[i], white);
    }
}

} // namespace

bool can_pass_integers(AVPixelFormat format)
{
    RowLayout layout = row_layout(format, model_channels(format));
    if (layout.element == Element::f32 || layout.shift != 0)
        return false;
    return layout.group == 1 || (layout.group == 3 && layout.position[0] == 0 &&
                                 layout.position[1] == 1 && layout.position[2] == 2);
}

Images integer_images(AVPixelFormat format, int batch, Size size)
{
    RowLayout layout = row_layout(format, model_channels(format));
    Images images;
    int64_t bytes = layout.element == Element::u8 ? 1 : 2;
    images.element = layout.element;
    images.white = static_cast<int32_t>(layout.white);
    images.batch = batch;
    images.channels = layout.channels;
    images.height = size.height;
    images.width = size.width;
    images.column_stride = bytes * layout.group;
    images.row_stride = images.column_stride * size.width;
    images.channel_stride = layout.group > 1 ? bytes : images.row_stride * size.height;
    images.batch_stride = bytes * layout.channels * size.width * size.height;
    return images;
}

void read_integers(const AVFrame *frame, const Images &images, int index)
{
    for_each_plane(images, [&](int channel, int bytes) {
        Rows from = frame_rows(frame, channel), to = image_rows(images, index, channel);
        av_image_copy_plane(to.data, to.stride, from.data, from.stride, bytes, images.height);
    });
}

void write_integers(const Images &images, int index, AVFrame *frame)
{
    for_each_plane(images, [&](int channel, int bytes) {
        Rows from = image_rows(images, index, channel), to = frame_rows(frame, channel);
        constexpr int32_t largest = std::numeric_limits<uint16_t>::max();
        if (images.element == Element::u16 && images.white < largest)
            return copy_limited(to, from, bytes, images.height,
                                static_cast<uint16_t>(images.white));
        av_image_copy_plane(to.data, to.stride, from.data, from.stride, bytes, images.height);
    });
}

} // namespace dnn_torch
