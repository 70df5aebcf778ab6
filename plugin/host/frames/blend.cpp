// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "blend.h"

#include "depth.h"
#include "picture.h"

#include <cstddef>

namespace dnn_torch
{
namespace
{

// Rises from 0 to 1 over `length` samples.
float rise(int place, int length)
{
    if (place >= length)
        return 1;
    return (static_cast<float>(place) + 0.5F) / static_cast<float>(length);
}

const float *sample_of(const Images &images, int index, int channel, int y)
{
    return reinterpret_cast<const float *>(static_cast<const std::byte *>(images.data) +
                                           index * images.batch_stride +
                                           channel * images.channel_stride + y * images.row_stride);
}

FloatRow planes_in(std::vector<float> &memory, int channels, int width)
{
    memory.resize(static_cast<size_t>(channels) * static_cast<size_t>(width));
    FloatRow row{};
    for (int c = 0; c < channels; c++)
        row.channel[c] = memory.data() + static_cast<ptrdiff_t>(c) * width;
    row.step = 1;
    return row;
}

} // namespace

// Tiles are written row by row.  Where four tiles meet, the later ones share what is left of the
// weight: a tile's weight is divided by the sum of the weights so far.
void TileBlender::weigh(int width, const BlendEdges &edges, int y)
{
    weights_.resize(static_cast<size_t>(width));
    const float down = rise(y, edges.above);
    for (int x = 0; x < width; x++) {
        const float left = rise(x, edges.left), right = rise(width - 1 - x, edges.right);
        float &weight = weights_[static_cast<size_t>(x)];
        weight = down < 1 ? left * right * down / (1 - down + right * down) : left;
    }
}

void TileBlender::mix(const float *tile, ptrdiff_t step, float *samples) const
{
    for (size_t x = 0; x < weights_.size(); x++, tile += step)
        samples[x] = weights_[x] < 1 ? samples[x] + weights_[x] * (*tile - samples[x]) : *tile;
}

void TileBlender::write_floats(const Images &images, int index, AVFrame *result,
                               const BlendEdges &edges)
{
    const Images kept = images_in(result);
    for (int y = 0; y < images.height; y++) {
        weigh(images.width, edges, y);
        const FloatRow tile = image_row(images, index, y);
        mix(tile.channel[0], tile.step, image_row(kept, 0, y).channel[0]);
    }
}

bool TileBlender::write(const Images &images, const PictureNumbers &numbers, int index,
                        const AVFrame *source, AVFrame *result, const BlendEdges &edges, Part part)
{
    const PictureLayout picture(result, images.channels, numbers, part);
    const FloatRow row = planes_in(row_, images.channels, images.width);
    const auto width = static_cast<size_t>(images.width);
    const ptrdiff_t step = images.column_stride / static_cast<ptrdiff_t>(sizeof(float));
    bool nan = false;
    for (int y = 0; y < images.height; y++) {
        weigh(images.width, edges, y);
        read_row(picture.row, frame_row(result, picture.row, y), row, width);
        for (int c = 0; c < images.channels; c++)
            mix(sample_of(images, index, c, y), step, row.channel[c]);
        const FrameRow kept = source ? frame_row(source, picture.row, y) : FrameRow{};
        nan |= write_row(picture.row, row, source ? &kept : nullptr,
                         frame_row(result, picture.row, y), width);
    }
    return nan;
}

} // namespace dnn_torch
