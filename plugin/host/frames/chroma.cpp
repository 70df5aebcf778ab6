// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chroma.h"

#include "chroma_rows.h"
#include "component_samples.h"
#include "formats.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dnn_torch
{
namespace
{

// Whether a chroma sample is sited at the first of its pixels; otherwise it is between them.
struct Siting {
    bool across, down;
};

Siting siting_of(const AVFrame *frame)
{
    switch (frame->chroma_location) {
    case AVCHROMA_LOC_CENTER:
    case AVCHROMA_LOC_BOTTOM:
        return {.across = false, .down = false};
    case AVCHROMA_LOC_TOP:
        return {.across = false, .down = true};
    case AVCHROMA_LOC_TOPLEFT:
        return {.across = true, .down = true};
    default:
        return {.across = true, .down = false};
    }
}

template <class Sample> struct Plane {
    Sample *data;
    ptrdiff_t stride; // in samples
    Size size;

    Sample *row(int y) const { return data + y * stride; }
};

template <class Sample> Plane<Sample> plane_of(const AVFrame *frame, int component)
{
    const ComponentSamples samples(frame, component);
    return {.data = reinterpret_cast<Sample *>(samples.data),
            .stride = samples.row_stride / static_cast<ptrdiff_t>(sizeof(Sample)),
            .size = component_size(frame, component)};
}

template <class Sample> ComponentSamples samples_of(const AVFrame *like, const Plane<Sample> &plane)
{
    ComponentSamples samples(like, 0);
    samples.data = reinterpret_cast<uint8_t *>(plane.data);
    samples.row_stride = static_cast<int>(plane.stride * static_cast<ptrdiff_t>(sizeof(Sample)));
    samples.step = sizeof(Sample);
    samples.shift = 0;
    return samples;
}

template <class Sample> ptrdiff_t with_room(int width)
{
    constexpr auto room = static_cast<ptrdiff_t>(row_room / sizeof(Sample));
    return (width + room - 1) / room * room;
}

} // namespace

// Converts one component.  Its own planes and rows have room for whole vectors.
template <class Sample> class ChromaConverter::Work
{
public:
    Work(ChromaConverter &memory, const AVFrame *subsampled)
        : memory_(memory), subsampled_(subsampled), siting_(siting_of(subsampled)),
          white_((1 << descriptor(subsampled).comp[0].depth) - 1)
    {
    }

    void widen(const AVFrame *to, int component)
    {
        const AVPixFmtDescriptor &format = descriptor(subsampled_);
        const Plane<Sample> target = plane_of<Sample>(to, component);
        Plane<Sample> plane = next(component_size(subsampled_, component));
        copy_samples(ComponentSamples(subsampled_, component), samples_of(to, plane), plane.size,
                     sizeof(Sample));
        for (int left = format.log2_chroma_h; left-- > 0;) {
            const Plane<Sample> taller =
                next({plane.size.width, AV_CEIL_RSHIFT(target.size.height, left)});
            double_down(plane, taller);
            plane = taller;
        }
        for (int left = format.log2_chroma_w; left-- > 0;) {
            const Size size = {AV_CEIL_RSHIFT(target.size.width, left), target.size.height};
            const Plane<Sample> wider = left ? next(size) : target;
            double_across(plane, wider);
            plane = wider;
        }
        if (plane.data != target.data)
            copy_samples(samples_of(to, plane), ComponentSamples(to, component), target.size,
                         sizeof(Sample));
    }

    void narrow(const AVFrame *from, AVFrame *to, int component)
    {
        const AVPixFmtDescriptor &format = descriptor(subsampled_);
        Plane<Sample> plane = plane_of<Sample>(from, component);
        for (int done = 0; done++ < format.log2_chroma_w;) {
            const Plane<Sample> narrower =
                next({AV_CEIL_RSHIFT(from->width, done), plane.size.height});
            halve_across(plane, narrower);
            plane = narrower;
        }
        if (format.log2_chroma_w == 0 && format.log2_chroma_h > 0)
            plane = copied(from, plane);
        for (int done = 0; done++ < format.log2_chroma_h;) {
            const Plane<Sample> lower =
                next({plane.size.width, AV_CEIL_RSHIFT(from->height, done)});
            halve_down(plane, lower);
            plane = lower;
        }
        copy_samples(samples_of(from, plane), ComponentSamples(to, component), plane.size,
                     sizeof(Sample));
    }

private:
    // Two planes take turns.
    Plane<Sample> next(Size size)
    {
        std::vector<std::byte> &bytes = memory_.planes_[turn_++ % 2];
        const ptrdiff_t stride = with_room<Sample>(size.width);
        bytes.resize(static_cast<size_t>(stride * size.height) * sizeof(Sample));
        return {.data = reinterpret_cast<Sample *>(bytes.data()), .stride = stride, .size = size};
    }

    static constexpr int room_of_row = static_cast<int>(row_room);

    // Returns the first sample of a row, which has room for neighbours and whole vectors around it.
    Sample *row(size_t number, int width)
    {
        std::vector<std::byte> &bytes = memory_.rows_[number];
        bytes.resize(static_cast<size_t>(with_room<Sample>(width)) * sizeof(Sample) + 3 * row_room);
        return reinterpret_cast<Sample *>(bytes.data() + row_room);
    }

    Plane<Sample> copied(const AVFrame *like, const Plane<Sample> &plane)
    {
        const Plane<Sample> copy = next(plane.size);
        copy_samples(samples_of(like, plane), samples_of(like, copy), plane.size, sizeof(Sample));
        return copy;
    }

    void double_down(const Plane<Sample> &from, const Plane<Sample> &to)
    {
        const auto width = static_cast<size_t>(from.size.width);
        const int last = from.size.height - 1;
        for (int y = 0; y <= last; y++) {
            const Sample *const before = from.row(std::max(y - 1, 0)), *const here = from.row(y),
                                *const after = from.row(std::min(y + 1, last));
            const bool is_alone = 2 * y + 1 == to.size.height;
            if (is_alone || siting_.down)
                memcpy(to.row(2 * y), here, width * sizeof(Sample));
            if (is_alone)
                continue;
            if (siting_.down)
                mean_row(here, after, width, to.row(2 * y + 1));
            else
                part_row(before, here, after, width, white_, to.row(2 * y), to.row(2 * y + 1));
        }
    }

    void halve_down(const Plane<Sample> &from, const Plane<Sample> &to)
    {
        const auto width = static_cast<size_t>(to.size.width);
        for (int y = 0; y < to.size.height; y++) {
            const bool is_alone = 2 * y + 1 == from.size.height;
            if (siting_.down)
                sited_row(surroundings(from, 2 * y), width, white_, to.row(y));
            else if (is_alone)
                memcpy(to.row(y), from.row(2 * y), width * sizeof(Sample));
            else
                mean_row(from.row(2 * y), from.row(2 * y + 1), width, to.row(y));
        }
    }

    // Rows beyond an edge mirror those inside of it.
    static Surroundings<Sample> surroundings(const Plane<Sample> &from, int y)
    {
        const int end = from.size.height;
        const auto inside = [&](int place, int mirrored) {
            return from.row(place >= 0 && place < end ? place : std::clamp(mirrored, 0, end - 1));
        };
        const bool ends_odd = end % 2 == 0; // the last odd row was made from one neighbour alone
        return {.even_before = inside(y - 2, y + 2),
                .odd_before = inside(y - 1, y + 1),
                .even = from.row(y),
                .odd = inside(y + 1, y - 1),
                .even_after = inside(y + 2, ends_odd ? y : y - 2)};
    }

    void double_across(const Plane<Sample> &from, const Plane<Sample> &to)
    {
        const int width = from.size.width;
        const auto count = static_cast<size_t>(width);
        Sample *const here = row(0, width), *const first = row(1, width),
                      *const second = row(2, width), *const both = row(3, 2 * width + room_of_row);
        for (int y = 0; y < from.size.height; y++) {
            memcpy(here, from.row(y), count * sizeof(Sample));
            here[-1] = here[0];
            here[width] = here[width - 1];
            if (siting_.across)
                mean_row(here, here + 1, count, second);
            else
                part_row(here - 1, here, here + 1, count, white_, first, second);
            if (to.size.width % 2 != 0)
                first[width - 1] = here[width - 1];
            join_row(siting_.across ? here : first, second, count, both);
            memcpy(to.row(y), both, static_cast<size_t>(to.size.width) * sizeof(Sample));
        }
    }

    void halve_across(const Plane<Sample> &from, const Plane<Sample> &to)
    {
        const int width = to.size.width;
        const auto count = static_cast<size_t>(width);
        Sample *const both = row(0, 2 * width + room_of_row), *const even = row(1, width),
                      *const odd = row(2, width);
        for (int y = 0; y < to.size.height; y++) {
            memcpy(both, from.row(y), static_cast<size_t>(from.size.width) * sizeof(Sample));
            split_row(both, count, even, odd);
            if (siting_.across) {
                mirror(even, odd, width, from.size.width);
                sited_row(Surroundings<Sample>{even - 1, odd - 1, even, odd, even + 1}, count,
                          white_, to.row(y));
                continue;
            }
            if (from.size.width % 2 != 0)
                odd[width - 1] = even[width - 1];
            mean_row(even, odd, count, to.row(y));
        }
    }

    // Like surroundings(), for `width` pairs made of `whole` samples.
    static void mirror(Sample *even, Sample *odd, int width, int whole)
    {
        const int last = width - 1;
        if (whole % 2 != 0) {
            odd[last] = last ? odd[last - 1] : even[0];
            even[width] = last ? even[last - 1] : even[0];
        } else {
            even[width] = even[last];
        }
        even[-1] = even[1];
        odd[-1] = odd[0];
    }

    ChromaConverter &memory_;
    const AVFrame *const subsampled_;
    const Siting siting_;
    const int white_;
    unsigned turn_ = 0;
};

AVPixelFormat full_chroma_format(AVPixelFormat format)
{
    const AVPixFmtDescriptor &wanted = *av_pix_fmt_desc_get(format);
    for (const AVPixelFormat *full = full_chroma_formats(); *full != AV_PIX_FMT_NONE; full++) {
        const AVPixFmtDescriptor &described = *av_pix_fmt_desc_get(*full);
        if (described.comp[0].depth == wanted.comp[0].depth &&
            described.nb_components == wanted.nb_components &&
            has_forced_range(*full) == has_forced_range(format))
            return *full;
    }
    return AV_PIX_FMT_NONE;
}

void ChromaConverter::widen(const AVFrame *from, AVFrame *to)
{
    convert(from, from, to, [&](auto work, int component) { work.widen(to, component); });
}

void ChromaConverter::narrow(const AVFrame *from, AVFrame *to)
{
    convert(to, from, to, [&](auto work, int component) { work.narrow(from, to, component); });
}

// Copies the components that have the same size in both frames, and calls `change` for the others.
template <class Change>
void ChromaConverter::convert(const AVFrame *subsampled, const AVFrame *from, AVFrame *to,
                              const Change &change)
{
    const AVPixFmtDescriptor &format = descriptor(subsampled);
    const int bytes = sample_bytes(format);
    for (int c = 0; c < format.nb_components; c++)
        if (!is_chroma(format, c) || format.log2_chroma_w + format.log2_chroma_h == 0)
            copy_samples(ComponentSamples(from, c), ComponentSamples(to, c),
                         component_size(from, c), bytes);
        else if (bytes == 1)
            change(Work<uint8_t>(*this, subsampled), c);
        else
            change(Work<uint16_t>(*this, subsampled), c);
}

} // namespace dnn_torch
