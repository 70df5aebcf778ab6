// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_window.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace dnn_torch
{
namespace
{

// Returns the position inside of `extent` samples whose sample is used for `place` beyond them.
int source_of(int place, int extent, Padding padding)
{
    if (padding == Padding::replicate || extent == 1)
        return std::min(place, extent - 1);
    const int period = 2 * (extent - 1), folded = place % period;
    return std::min(folded, period - folded);
}

size_t element_bytes(Element element)
{
    return element == Element::u8 ? 1 : element == Element::u16 ? 2 : 4;
}

// The channels of one row are interleaved if columns are further apart than channels.
struct RowParts {
    int count;    // planes
    size_t bytes; // of one column
};

RowParts parts_of(const Images &images)
{
    const bool packed = images.channels > 1 && images.column_stride > images.channel_stride;
    const size_t bytes = element_bytes(images.element);
    return packed ? RowParts{1, bytes * static_cast<size_t>(images.channels)}
                  : RowParts{images.channels, bytes};
}

void pad_row(std::byte *row, int64_t step, size_t bytes, int inside, int width, Padding padding)
{
    for (int x = inside; x < width; x++)
        memcpy(row + x * step, row + source_of(x, inside, padding) * step, bytes);
}

} // namespace

FrameWindow::FrameWindow() : window_(av_frame_alloc())
{
    if (!window_)
        throw std::bad_alloc();
}

AVFrame *FrameWindow::at(const AVFrame *frame, const Region &region, const Components &components)
{
    AVFrame *window = window_.get();
    window->format = frame->format;
    window->width = region.size.width;
    window->height = region.size.height;
    window->colorspace = frame->colorspace;
    window->color_range = frame->color_range;
    window->color_primaries = frame->color_primaries;
    window->color_trc = frame->color_trc;
    const AVPixFmtDescriptor &format =
        *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
    for (int c = components.first; c < components.first + components.count; c++) {
        const int plane = format.comp[c].plane;
        window->linesize[plane] = frame->linesize[plane];
        window->data[plane] = frame->data[plane] +
                              static_cast<ptrdiff_t>(region.y) * frame->linesize[plane] +
                              static_cast<ptrdiff_t>(region.x) * format.comp[c].step;
    }
    return window;
}

Images part_of(const Images &images, const Region &region)
{
    Images part = images;
    part.data = static_cast<std::byte *>(images.data) + region.y * images.row_stride +
                region.x * images.column_stride;
    part.width = region.size.width;
    part.height = region.size.height;
    return part;
}

void pad_picture(const Images &images, int index, Size inside, Padding padding)
{
    if (inside.width == images.width && inside.height == images.height)
        return;
    const RowParts parts = parts_of(images);
    auto *picture = static_cast<std::byte *>(images.data) + index * images.batch_stride;
    for (int part = 0; part < parts.count; part++) {
        std::byte *plane = picture + part * images.channel_stride;
        for (int y = 0; y < inside.height; y++)
            pad_row(plane + y * images.row_stride, images.column_stride, parts.bytes, inside.width,
                    images.width, padding);
        const size_t row_bytes =
            static_cast<size_t>(images.column_stride) * static_cast<size_t>(images.width);
        for (int y = inside.height; y < images.height; y++)
            memcpy(plane + y * images.row_stride,
                   plane + source_of(y, inside.height, padding) * images.row_stride, row_bytes);
    }
}

} // namespace dnn_torch
