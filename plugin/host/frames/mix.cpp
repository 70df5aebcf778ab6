// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mix.h"

#include <cstddef>

namespace dnn_torch
{
namespace
{

constexpr size_t most_channels = 4;

// Fills `source` with the mixture.
void mix(const FloatRow &source, const FloatRow &picture, int channels, float strength, int width)
{
    for (int c = 0; c < channels; c++) {
        float *const to = source.channel[c];
        const float *const other = picture.channel[c];
        for (ptrdiff_t x = 0; x < width; x++)
            to[x] += (other[x * picture.step] - to[x]) * strength;
    }
}

} // namespace

// Returns one of two rows of floats.
FloatRow Mixer::row(size_t number, int width)
{
    const size_t length = static_cast<size_t>(width);
    memory_.resize(2 * most_channels * length);
    FloatRow row{};
    for (size_t c = 0; c < most_channels; c++)
        row.channel[c] = memory_.data() + (number * most_channels + c) * length;
    row.step = 1;
    return row;
}

bool Mixer::write(const Images &images, const PictureNumbers &numbers, int index, float strength,
                  const AVFrame *source, AVFrame *result, Part part)
{
    const PictureLayout picture(result, images.channels, numbers, part);
    const RowLayout &layout = picture.row;
    const FloatRow mixed = row(0, images.width);
    const auto width = static_cast<size_t>(images.width);
    bool nan = false;
    for (int y = 0; y < images.height; y++) {
        const FrameRow from = frame_row(source, layout, y);
        read_row(layout, from, mixed, width);
        mix(mixed, image_row(images, index, y), images.channels, strength, images.width);
        nan |= write_row(layout, mixed, &from, frame_row(result, layout, y), width);
    }
    return nan;
}

void Mixer::blend(int channels, float strength, const AVFrame *source, AVFrame *result, Part part)
{
    const PictureLayout picture(result, channels, {}, part);
    const RowLayout &layout = picture.row;
    const FloatRow mixed = row(0, result->width), written = row(1, result->width);
    const auto width = static_cast<size_t>(result->width);
    for (int y = 0; y < result->height; y++) {
        const FrameRow from = frame_row(source, layout, y), to = frame_row(result, layout, y);
        read_row(layout, from, mixed, width);
        read_row(layout, to, written, width);
        mix(mixed, written, channels, strength, result->width);
        write_row(layout, mixed, &from, to, width);
    }
}

} // namespace dnn_torch
