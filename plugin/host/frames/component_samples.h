// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Access to the samples of one component of a frame of any format.
#pragma once

#include "host/size.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

#include <cstddef>
#include <cstdint>

namespace dnn_torch
{

// Returns the descriptor of the frame's format.
const AVPixFmtDescriptor &descriptor(const AVFrame *frame);

// Whether a component of the format is U or V.
bool is_chroma(const AVPixFmtDescriptor &format, int component);

Size component_size(const AVFrame *frame, int component);

// Where the samples of one component are.  Strides and steps are in bytes.
struct ComponentSamples {
    uint8_t *data;
    int row_stride, step, shift;

    ComponentSamples(const AVFrame *frame, int component);

    template <class Sample> Sample *at(int x, int y) const
    {
        return reinterpret_cast<Sample *>(data + static_cast<ptrdiff_t>(y) * row_stride +
                                          static_cast<ptrdiff_t>(x) * step);
    }
};

// Copies the values of `size` samples of `bytes` bytes each.  One of the two shifts must be 0, or
// both must be the same.
void copy_samples(const ComponentSamples &from, const ComponentSamples &to, Size size, int bytes);

} // namespace dnn_torch
