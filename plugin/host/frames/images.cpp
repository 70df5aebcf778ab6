// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "images.h"

namespace dnn_torch
{

Images float_planes(float *data, int batch, int channels, Size size)
{
    Images images;
    images.data = data;
    images.batch = batch;
    images.channels = channels;
    images.height = size.height;
    images.width = size.width;
    images.column_stride = sizeof(float);
    images.row_stride = images.column_stride * size.width;
    images.channel_stride = images.row_stride * size.height;
    images.batch_stride = images.channel_stride * channels;
    return images;
}

Images float_pixels(float *data, int batch, int channels, Size size)
{
    Images images = float_planes(data, batch, channels, size);
    images.channel_stride = sizeof(float);
    images.column_stride = images.channel_stride * channels;
    images.row_stride = images.column_stride * size.width;
    return images;
}

} // namespace dnn_torch
