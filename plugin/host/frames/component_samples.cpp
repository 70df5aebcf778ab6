// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "component_samples.h"

#include <cstring>

namespace dnn_torch
{
namespace
{

// Steps are in samples.  Steps known at compile time make the loop several times as fast.
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
    if (from_step == 1 && to_step == 1)
        memcpy(to, from, static_cast<size_t>(width) * sizeof(Sample));
    else if (from_step == 1 && to_step == 2)
        copy_row<1, 2>(from, from_step, to, to_step, width);
    else if (from_step == 3 && to_step == 1)
        copy_row<3, 1>(from, from_step, to, to_step, width);
    else if (from_step == 4 && to_step == 1)
        copy_row<4, 1>(from, from_step, to, to_step, width);
    else if (from_step == 2 && to_step == 1)
        copy_row<2, 1>(from, from_step, to, to_step, width);
    else
        copy_row<0, 0>(from, from_step, to, to_step, width);
}

template <int known_from, int known_to, class Sample>
void shift_row(const Sample *from, ptrdiff_t from_step, Sample *to, ptrdiff_t to_step, int width,
               int down, int up)
{
    const ptrdiff_t across = known_from ? known_from : from_step;
    const ptrdiff_t along = known_to ? known_to : to_step;
    for (int x = 0; x < width; x++)
        to[x * along] = static_cast<Sample>(from[x * across] >> down << up);
}

template <class Sample>
void copy_row(const Sample *from, ptrdiff_t from_step, Sample *to, ptrdiff_t to_step, int width,
              int down, int up)
{
    if (from_step == 1 && to_step == 1)
        shift_row<1, 1>(from, from_step, to, to_step, width, down, up);
    else
        shift_row<0, 0>(from, from_step, to, to_step, width, down, up);
}

template <class Sample>
void copy_samples(const ComponentSamples &from, const ComponentSamples &to, Size size)
{
    constexpr ptrdiff_t bytes = sizeof(Sample);
    const ptrdiff_t from_step = from.step / bytes, to_step = to.step / bytes;
    const int down = from.shift, up = to.shift;
    for (int y = 0; y < size.height; y++) {
        const Sample *const source = from.at<Sample>(0, y);
        Sample *const target = to.at<Sample>(0, y);
        if (down == up) {
            copy_row(source, from_step, target, to_step, size.width);
            continue;
        }
        copy_row(source, from_step, target, to_step, size.width, down, up);
    }
}

} // namespace

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

ComponentSamples::ComponentSamples(const AVFrame *frame, int component)
{
    const AVComponentDescriptor &part = descriptor(frame).comp[component];
    data = frame->data[part.plane] + part.offset;
    row_stride = frame->linesize[part.plane];
    step = part.step;
    shift = part.shift;
}

void copy_samples(const ComponentSamples &from, const ComponentSamples &to, Size size, int bytes)
{
    if (bytes == 1)
        copy_samples<uint8_t>(from, to, size);
    else if (bytes == 2)
        copy_samples<uint16_t>(from, to, size);
    else
        copy_samples<uint32_t>(from, to, size);
}

} // namespace dnn_torch
