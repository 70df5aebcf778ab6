// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture.h"

#include "colours.h"

#include <cstddef>
#include <utility>

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

FrameRow frame_row(const AVFrame *frame, const RowLayout &layout, int y)
{
    const AVPixFmtDescriptor &format =
        *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
    FrameRow row{};
    for (int c = 0; c < layout.channels; c++) {
        // Y, U and V are converted first; the conversion already yields the model's order.
        bool is_reversed = layout.reversed && !layout.colours && c < 3;
        int plane = format.comp[layout.first + (is_reversed ? 2 - c : c)].plane;
        row.channel[c] = frame->data[plane] + static_cast<ptrdiff_t>(y) * frame->linesize[plane];
    }
    return row;
}

FloatRow image_row(const Images &images, int picture, int y)
{
    auto *start = static_cast<std::byte *>(images.data) + picture * images.batch_stride +
                  y * images.row_stride;
    FloatRow row{};
    for (int c = 0; c < images.channels; c++)
        row.channel[c] = reinterpret_cast<float *>(start + c * images.channel_stride);
    row.step = images.column_stride / static_cast<ptrdiff_t>(sizeof(float));
    return row;
}

Components components_of(AVPixelFormat format, int channels, Part part)
{
    const int all = av_pix_fmt_desc_get(format)->nb_components;
    switch (part) {
    case Part::alpha:
        return {.first = all - 1, .count = 1};
    case Part::chroma:
        return {.first = 1, .count = 2};
    default:
        return {.first = 0, .count = std::min(channels, all)};
    }
}

PictureLayout::PictureLayout(const AVFrame *frame, int channels, const PictureNumbers &numbers,
                             Part part)
    : map_(map_of(numbers))
{
    const auto format = static_cast<AVPixelFormat>(frame->format);
    row = row_layout(format, channels, components_of(format, channels, part).first);
    if (part == Part::seen && needs_colours(format, channels)) {
        colours_ = colours_of(frame);
        row.colours = &colours_;
    }
    PictureNumbers in_order = numbers;
    in_order.is_bgr = false;
    if (!are_plain(in_order))
        row.numbers = &map_;
    if (numbers.is_bgr && channels >= 3)
        reverse();
}

// Swapping the tables costs nothing while rows are converted.
void PictureLayout::reverse()
{
    row.reversed = true;
    std::swap(row.position[0], row.position[2]);
    std::swap(colours_.to_rgb[0], colours_.to_rgb[2]);
    for (auto &from : colours_.from_rgb)
        std::swap(from[0], from[2]);
}

void read_picture(const AVFrame *frame, const PictureNumbers &numbers, const Images &images,
                  int index, Gamut gamut)
{
    PictureLayout picture(frame, images.channels, numbers);
    picture.row.cut = gamut == Gamut::cut;
    const RowLayout &layout = picture.row;
    for (int y = 0; y < images.height; y++)
        read_row(layout, frame_row(frame, layout, y), image_row(images, index, y),
                 static_cast<size_t>(images.width));
}

bool write_picture(const Images &images, const PictureNumbers &numbers, int index,
                   const AVFrame *source, AVFrame *result, Part part)
{
    const PictureLayout picture(result, images.channels, numbers, part);
    const RowLayout &layout = picture.row;
    bool keep = source && source->width == result->width && source->height == result->height;
    bool nan = false;
    for (int y = 0; y < images.height; y++) {
        FrameRow kept = keep ? frame_row(source, layout, y) : FrameRow{};
        nan |= write_row(layout, image_row(images, index, y), keep ? &kept : nullptr,
                         frame_row(result, layout, y), static_cast<size_t>(images.width));
    }
    return nan;
}

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
