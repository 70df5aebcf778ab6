// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace dnn_torch {
namespace {

// One channel of a picture in somebody's memory; strides are in bytes.
struct Channel {
    std::byte *data;
    ptrdiff_t row_stride, column_stride;
    bool is_float;

    template <class Element> Element *row(int y) const
    {
        return reinterpret_cast<Element *>(data + y * row_stride);
    }
};

const AVPixFmtDescriptor &descriptor(int format)
{
    return *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(format));
}

Channel frame_channel(const AVFrame *frame, int index)
{
    const AVPixFmtDescriptor &format = descriptor(frame->format);
    const AVComponentDescriptor &component = format.comp[index];
    return {reinterpret_cast<std::byte *>(frame->data[component.plane]) + component.offset,
            frame->linesize[component.plane], component.step,
            (format.flags & AV_PIX_FMT_FLAG_FLOAT) != 0};
}

Channel image_channel(const DnnTorchImages &images, int picture, int index)
{
    return {static_cast<std::byte *>(images.data) + picture * images.batch_stride +
                index * images.channel_stride,
            images.row_stride, images.column_stride, true};
}

float from_byte(uint8_t value) { return static_cast<float>(value) / 255.0F; }

// NaN compares false and ends as 0.
uint8_t to_byte(float value)
{
    float scaled = value * 255.0F;
    scaled = scaled > 0.0F ? scaled : 0.0F;
    scaled = scaled < 255.0F ? scaled : 255.0F;
    return static_cast<uint8_t>(std::lrint(scaled));
}

float to_number(float value) { return value == value ? value : 0.0F; }

// The strides of one row, as numbers of elements, so that 1 to 1 can be vectorised.
template <class From, class To, class Convert>
void convert_row(const From *from, ptrdiff_t from_step, To *to, ptrdiff_t to_step, int width,
                 Convert convert)
{
    if (from_step == 1 && to_step == 1)
        for (int x = 0; x < width; x++)
            to[x] = convert(from[x]);
    else
        for (ptrdiff_t x = 0; x < width; x++)
            to[x * to_step] = convert(from[x * from_step]);
}

template <class From, class To, class Convert>
void convert_channel(const Channel &from, const Channel &to, int width, int height,
                     Convert convert)
{
    ptrdiff_t from_step = from.column_stride / static_cast<ptrdiff_t>(sizeof(From));
    ptrdiff_t to_step = to.column_stride / static_cast<ptrdiff_t>(sizeof(To));
    for (int y = 0; y < height; y++)
        convert_row(from.row<const From>(y), from_step, to.row<To>(y), to_step, width, convert);
}

bool has_nan(const Channel &channel, int width, int height)
{
    ptrdiff_t step = channel.column_stride / static_cast<ptrdiff_t>(sizeof(float));
    for (int y = 0; y < height; y++) {
        const float *row = channel.row<const float>(y);
        bool found = false;
        for (ptrdiff_t x = 0; x < width; x++)
            found |= row[x * step] != row[x * step];
        if (found)
            return true;
    }
    return false;
}

} // namespace

int model_channels(AVPixelFormat format)
{
    return descriptor(format).flags & AV_PIX_FMT_FLAG_RGB ? 3 : 1;
}

bool has_chroma(AVPixelFormat format)
{
    return !(descriptor(format).flags & AV_PIX_FMT_FLAG_RGB) &&
           descriptor(format).nb_components >= 3;
}

void read_picture(const AVFrame *frame, const DnnTorchImages &images, int index)
{
    for (int c = 0; c < images.channels; c++) {
        Channel from = frame_channel(frame, c), to = image_channel(images, index, c);
        if (from.is_float)
            convert_channel<float, float>(from, to, images.width, images.height,
                                          [](float value) { return value; });
        else
            convert_channel<uint8_t, float>(from, to, images.width, images.height, from_byte);
    }
}

bool write_picture(const DnnTorchImages &images, int index, AVFrame *frame)
{
    bool nan = false;
    for (int c = 0; c < images.channels; c++) {
        Channel from = image_channel(images, index, c), to = frame_channel(frame, c);
        nan = nan || has_nan(from, images.width, images.height);
        if (to.is_float)
            convert_channel<float, float>(from, to, images.width, images.height, to_number);
        else
            convert_channel<float, uint8_t>(from, to, images.width, images.height, to_byte);
    }
    return nan;
}

} // namespace dnn_torch
