// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stencil.h"

#include "colours.h"
#include "component_samples.h"
#include "formats.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace dnn_torch
{
namespace
{

// One component of a format: where its samples are and what they mean.
struct Plane {
    Plane(const AVFrame *frame, int number)
        : format(descriptor(frame)), component(format.comp[number])
    {
        const bool is_chroma =
            !(format.flags & AV_PIX_FMT_FLAG_RGB) && (number == 1 || number == 2);
        across = is_chroma ? format.log2_chroma_w : 0;
        down = is_chroma ? format.log2_chroma_h : 0;
        data = frame->data[component.plane] + component.offset;
        stride = frame->linesize[component.plane];
        largest = is_float() ? 1.0F : static_cast<float>((1 << component.depth) - 1);
    }

    bool is_float() const { return (format.flags & AV_PIX_FMT_FLAG_FLOAT) != 0; }

    // Calls `change` with a value of the type in which samples are stored.
    template <class Change> void with_sample(const Change &change) const
    {
        if (is_float())
            change(float());
        else if (component.depth > 8)
            change(uint16_t());
        else
            change(uint8_t());
    }

    template <class Sample> Sample &at(int x, int y) const
    {
        return *reinterpret_cast<Sample *>(data + y * stride +
                                           static_cast<ptrdiff_t>(x) * component.step);
    }

    template <class Sample> float read(const Sample &sample) const
    {
        if constexpr (std::is_same_v<Sample, float>)
            return sample;
        else
            return static_cast<float>(sample >> component.shift) / largest;
    }

    template <class Sample> void write(float value, Sample &sample) const
    {
        if constexpr (std::is_same_v<Sample, float>)
            sample = value;
        else
            sample = static_cast<Sample>(std::lround(std::clamp(value, 0.0F, 1.0F) * largest)
                                         << component.shift);
    }

    const AVPixFmtDescriptor &format;
    const AVComponentDescriptor &component;
    int across, down; // log2 of how many pixels share a sample
    uint8_t *data;
    ptrdiff_t stride;
    float largest;
};

// Returns the components of a colour in the frame's format, as fractions of their largest value.
std::array<float, 3> components_of(const std::array<uint8_t, 3> &colour, const AVFrame *frame)
{
    std::array<float, 3> rgb{}, components{};
    std::transform(colour.begin(), colour.end(), rgb.begin(),
                   [](uint8_t value) { return static_cast<float>(value) / 255; });
    const AVPixFmtDescriptor &format = descriptor(frame);
    if (format.flags & AV_PIX_FMT_FLAG_RGB)
        return rgb;
    if (format.nb_components < 3) // grey, of the whole range
        return {0.299F * rgb[0] + 0.587F * rgb[1] + 0.114F * rgb[2]};
    const Colours colours = colours_of(frame);
    for (size_t c = 0; c < 3; c++) {
        const float(&row)[4] = colours.from_rgb[c];
        components[c] = row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2] + row[3];
    }
    return components;
}

// Returns which fraction of the frame's pixels that share the sample at (x, y) is marked.
float share_of(const Stencil &stencil, const Plane &plane, int x, int y, Size frame)
{
    const int left = x << plane.across, right = std::min((x + 1) << plane.across, frame.width);
    const int top = y << plane.down, bottom = std::min((y + 1) << plane.down, frame.height);
    int meant = 0;
    for (int row = std::max(top, stencil.top);
         row < std::min(bottom, stencil.top + stencil.size.height); row++)
        for (int column = std::max(left, stencil.left);
             column < std::min(right, stencil.left + stencil.size.width); column++)
            meant += stencil.inside[static_cast<size_t>(row - stencil.top) *
                                        static_cast<size_t>(stencil.size.width) +
                                    static_cast<size_t>(column - stencil.left)];
    return static_cast<float>(meant) / static_cast<float>((right - left) * (bottom - top));
}

void paint_component(const Stencil &stencil, float value, const Plane &plane, Size frame)
{
    constexpr float opacity = 0.5F;
    const int left = stencil.left >> plane.across, top = stencil.top >> plane.down;
    const int right = -(-(stencil.left + stencil.size.width) >> plane.across);
    const int bottom = -(-(stencil.top + stencil.size.height) >> plane.down);
    plane.with_sample([&](auto element) {
        for (int y = top; y < bottom; y++)
            for (int x = left; x < right; x++) {
                const float share = share_of(stencil, plane, x, y, frame);
                if (share == 0)
                    continue;
                auto &sample = plane.at<decltype(element)>(x, y);
                const float before = plane.read(sample);
                plane.write(before + (value - before) * opacity * share, sample);
            }
    });
}

struct Area {
    int left, top, right, bottom; // in samples of a component
};

template <class Sample> void fill(const Plane &plane, const Area &area, float value)
{
    Sample sample{};
    plane.write(value, sample);
    for (int y = area.top; y < area.bottom; y++)
        for (int x = area.left; x < area.right; x++)
            plane.at<Sample>(x, y) = sample;
}

// A frame of few pixels is one cell.
Size cells_of(Size pixels)
{
    constexpr int most = 4, least_pixels = 16;
    const int longer = std::max(pixels.width, pixels.height);
    const int side = std::max((longer + most - 1) / most, least_pixels);
    return {std::max(pixels.width / side, 1), std::max(pixels.height / side, 1)};
}

template <class Sample> float average(const Plane &plane, const Area &area)
{
    double sum = 0;
    for (int y = area.top; y < area.bottom; y++)
        for (int x = area.left; x < area.right; x++) {
            const float value = plane.read(plane.at<Sample>(x, y));
            sum += std::isfinite(value) ? value : 0;
        }
    return static_cast<float>(sum / ((area.right - area.left) * (area.bottom - area.top)));
}

// Where a sample is between the middles of two cells.
struct BetweenCells {
    BetweenCells(int sample, int samples, int cells)
    {
        const float place = (static_cast<float>(sample) + 0.5F) * static_cast<float>(cells) /
                                static_cast<float>(samples) -
                            0.5F;
        const float clipped = std::clamp(place, 0.0F, static_cast<float>(cells - 1));
        first = static_cast<size_t>(clipped);
        second = std::min(first + 1, static_cast<size_t>(cells - 1));
        share = clipped - static_cast<float>(first);
    }

    float of(float one, float other) const { return one + (other - one) * share; }

    size_t first = 0, second = 0;
    float share = 0; // of the second
};

// Writes nothing but interpolated averages of cells.
template <class Sample> void blur(const Plane &plane, const Area &area, Size cells)
{
    const int width = area.right - area.left, height = area.bottom - area.top;
    const auto columns = static_cast<size_t>(cells.width);
    std::vector<float> averages;
    for (int row = 0; row < cells.height; row++)
        for (int column = 0; column < cells.width; column++)
            averages.push_back(
                average<Sample>(plane, {.left = area.left + width * column / cells.width,
                                        .top = area.top + height * row / cells.height,
                                        .right = area.left + width * (column + 1) / cells.width,
                                        .bottom = area.top + height * (row + 1) / cells.height}));
    std::vector<BetweenCells> across;
    for (int x = 0; x < width; x++)
        across.emplace_back(x, width, cells.width);
    std::vector<float> row(columns);
    for (int y = 0; y < height; y++) {
        const BetweenCells down(y, height, cells.height);
        for (size_t c = 0; c < columns; c++)
            row[c] =
                down.of(averages[down.first * columns + c], averages[down.second * columns + c]);
        for (int x = 0; x < width; x++) {
            const BetweenCells &place = across[static_cast<size_t>(x)];
            plane.write(place.of(row[place.first], row[place.second]),
                        plane.at<Sample>(area.left + x, area.top + y));
        }
    }
}

} // namespace

void paint(const Stencil &stencil, const std::array<uint8_t, 3> &colour, AVFrame *frame)
{
    const AVPixFmtDescriptor &format = descriptor(frame);
    const std::array<float, 3> components = components_of(colour, frame);
    const int count = format.nb_components - (has_alpha(format) ? 1 : 0);
    for (int number = 0; number < count; number++)
        paint_component(stencil, components[static_cast<size_t>(number)], Plane(frame, number),
                        {frame->width, frame->height});
}

void hide(int left, int top, int right, int bottom, Hiding hiding, AVFrame *frame)
{
    const AVPixFmtDescriptor &format = descriptor(frame);
    const std::array<float, 3> black = components_of({0, 0, 0}, frame);
    left = std::max(left, 0);
    top = std::max(top, 0);
    right = std::min(right, frame->width);
    bottom = std::min(bottom, frame->height);
    if (left >= right || top >= bottom)
        return;
    const Size cells = cells_of({right - left, bottom - top});
    for (int number = 0; number < format.nb_components; number++) {
        const bool is_alpha = has_alpha(format) && number == format.nb_components - 1;
        const Plane plane(frame, number);
        const Area area = {.left = left >> plane.across,
                           .top = top >> plane.down,
                           .right = -(-right >> plane.across),
                           .bottom = -(-bottom >> plane.down)};
        plane.with_sample([&](auto sample) {
            if (hiding == Hiding::blur && !is_alpha)
                blur<decltype(sample)>(plane, area, cells);
            else
                fill<decltype(sample)>(plane, area,
                                       is_alpha ? 1 : black[static_cast<size_t>(number)]);
        });
    }
}

void cut_out(const Stencil &stencil, AVFrame *frame)
{
    const Plane alpha(frame, descriptor(frame).nb_components - 1);
    alpha.with_sample([&](auto element) {
        using Sample = decltype(element);
        for (int y = 0; y < frame->height; y++)
            for (int x = 0; x < frame->width; x++)
                alpha.write(0, alpha.at<Sample>(x, y));
        auto inside = stencil.inside.begin();
        for (int y = 0; y < stencil.size.height; y++)
            for (int x = 0; x < stencil.size.width; x++)
                if (*inside++)
                    alpha.write(1, alpha.at<Sample>(stencil.left + x, stencil.top + y));
    });
}

} // namespace dnn_torch
