// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Owning pointers for FFmpeg's objects.
#pragma once

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavutil/buffer.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <new>

namespace dnn_torch
{

struct FfmpegDeleter {
    void operator()(AVFilterGraph *graph) const { avfilter_graph_free(&graph); }
    void operator()(AVFrame *frame) const { av_frame_free(&frame); }
    void operator()(AVBufferPool *pool) const { av_buffer_pool_uninit(&pool); }
    void operator()(AVDictionary *options) const { av_dict_free(&options); }
    void operator()(SwsContext *scaler) const { sws_freeContext(scaler); }
    void operator()(char *text) const { av_free(text); }
};

using GraphPointer = std::unique_ptr<AVFilterGraph, FfmpegDeleter>;
using FramePointer = std::unique_ptr<AVFrame, FfmpegDeleter>;
using BufferPoolPointer = std::unique_ptr<AVBufferPool, FfmpegDeleter>;
using DictionaryPointer = std::unique_ptr<AVDictionary, FfmpegDeleter>;
using ScalerPointer = std::unique_ptr<SwsContext, FfmpegDeleter>;
using TextPointer = std::unique_ptr<char, FfmpegDeleter>;

// Returns another reference to the same picture.  Throws std::bad_alloc.
inline FramePointer new_reference(const AVFrame *frame)
{
    FramePointer reference(av_frame_clone(frame));
    if (!reference)
        throw std::bad_alloc();
    return reference;
}

} // namespace dnn_torch
