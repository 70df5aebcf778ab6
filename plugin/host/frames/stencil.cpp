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

void blacken(int left, int top, int right, int bottom, AVFrame *frame)
{
    const AVPixFmtDescriptor &format = descriptor(frame);
    const std::array<float, 3> black = components_of({0, 0, 0}, frame);
    for (int number = 0; number < format.nb_components; number++) {
        const bool is_alpha = has_alpha(format) && number == format.nb_components - 1;
        const float value = is_alpha ? 1 : black[static_cast<size_t>(number)];
        const Plane plane(frame, number);
        const int first = std::max(left, 0) >> plane.across;
        const int end = -(-std::min(right, frame->width) >> plane.across);
        const int end_row = -(-std::min(bottom, frame->height) >> plane.down);
        plane.with_sample([&](auto sample) {
            plane.write(value, sample);
            for (int y = std::max(top, 0) >> plane.down; y < end_row; y++)
                for (int x = first; x < end; x++)
                    plane.at<decltype(sample)>(x, y) = sample;
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
