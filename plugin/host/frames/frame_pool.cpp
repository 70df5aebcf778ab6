// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_pool.h"

#include "host/error.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <new>

namespace dnn_torch
{
namespace
{

constexpr int row_alignment = 64; // the widest vectors that encoders read with

ptrdiff_t align(ptrdiff_t size)
{
    return (size + row_alignment - 1) / row_alignment * row_alignment;
}

} // namespace

FramePool::FramePool(AVPixelFormat format, Size size) : format_(format), size_(size)
{
    size_t plane_sizes[4] = {};
    ptrdiff_t strides[4] = {};
    int ret =
        av_image_check_size2(static_cast<unsigned>(size.width), static_cast<unsigned>(size.height),
                             INT64_MAX, format, 0, nullptr);
    if (ret >= 0)
        ret = av_image_fill_linesizes(linesizes_, format, size.width);
    for (int i = 0; i < 4; i++)
        strides[i] = linesizes_[i] = static_cast<int>(align(linesizes_[i]));
    if (ret >= 0)
        ret = av_image_fill_plane_sizes(plane_sizes, format, size.height, strides);
    if (ret < 0)
        throw Error(ret, "no frame can be " + to_text(size));

    ptrdiff_t total = row_alignment; // vectors may read past the last row
    for (int i = 0; i < 4; i++) {
        offsets_[i] = plane_sizes[i] ? total : -1;
        total += align(static_cast<ptrdiff_t>(plane_sizes[i])) + row_alignment;
    }
    pool_.reset(av_buffer_pool_init(static_cast<size_t>(total), nullptr));
    if (!pool_)
        throw std::bad_alloc();
}

FramePointer FramePool::take() const
{
    FramePointer frame(av_frame_alloc());
    if (!frame)
        throw std::bad_alloc();
    frame->buf[0] = av_buffer_pool_get(pool_.get());
    if (!frame->buf[0])
        throw std::bad_alloc();
    auto start = reinterpret_cast<uintptr_t>(frame->buf[0]->data);
    uint8_t *aligned =
        frame->buf[0]->data + (row_alignment - start % row_alignment) % row_alignment;
    for (int i = 0; i < 4 && offsets_[i] >= 0; i++) {
        frame->linesize[i] = linesizes_[i];
        frame->data[i] = aligned + offsets_[i] - row_alignment;
    }
    frame->format = format_;
    frame->width = size_.width;
    frame->height = size_.height;
    return frame;
}

} // namespace dnn_torch
