// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "locality.h"

#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

namespace dnn_torch
{
namespace
{

enum class Axis { across, down };

constexpr int small = 64, narrow = 16;

int along(Size size, Axis axis)
{
    return axis == Axis::across ? size.width : size.height;
}

Size sized(Axis axis, int length, int other)
{
    return axis == Axis::across ? Size{length, other} : Size{other, length};
}

size_t index_of(Size size, int channel, int x, int y)
{
    return (static_cast<size_t>(channel) * static_cast<size_t>(size.height) +
            static_cast<size_t>(y)) *
               static_cast<size_t>(size.width) +
           static_cast<size_t>(x);
}

// A number between 0 and 1 for each place of an endless picture: noise on a slope.
float content_at(int channel, int x, int y)
{
    uint64_t hash = static_cast<uint64_t>(y * 8191 + x) * 3 + static_cast<uint64_t>(channel);
    hash = (hash + 1) * 0x9E3779B97F4A7C15U;
    hash = (hash ^ (hash >> 29)) * 0xBF58476D1CE4E5B9U;
    const float noise = static_cast<float>(hash >> 40) / static_cast<float>(1 << 24);
    return 0.6F * noise + 0.4F * static_cast<float>((x * 3 + y * 2) % 97) / 97.0F;
}

// What of a result changed: the first and the last place along an axis, in samples of the result.
struct Changed {
    int first = std::numeric_limits<int>::max(), last = -1;
};

class Measurement
{
public:
    Measurement(const TrialTerms &terms, const RunTrial &run) : terms_(terms), run_(run) {}

    Locality measure()
    {
        const Size square = size_for(small, small);
        const TrialPicture picture = content(square, {0, 0}), made = run_(picture);
        Locality found = {.across = start(square.width, made.size.width),
                          .down = start(square.height, made.size.height)};
        look(Axis::across, picture, made, found.across);
        look(Axis::down, picture, made, found.down);
        refine(Axis::across, found.across);
        refine(Axis::down, found.down);
        return found;
    }

private:
    struct Place {
        int x, y;
    };

    int extent_for(int wanted, int least) const
    {
        return round_up(std::max(wanted, least), terms_.multiple);
    }

    Size size_for(int width, int height) const
    {
        if (terms_.only)
            return *terms_.only;
        return {extent_for(width, terms_.least.width), extent_for(height, terms_.least.height)};
    }

    Size strip(Axis axis, int length) const
    {
        const Size size = sized(axis, length, narrow);
        return size_for(size.width, size.height);
    }

    static AxisLocality start(int extent, int made)
    {
        const std::optional<Ratio> ratio = ratio_between(extent, made);
        if (!ratio)
            throw Error(AVERROR(EINVAL), "the model makes " + std::to_string(made) + " pixels of " +
                                             std::to_string(extent) +
                                             ", which is no multiple and no simple fraction");
        return {.is_local = true, .reach = 0, .step = 1, .ratio = *ratio};
    }

    // Further pictures get the numbers of the frame's first channel.
    static size_t number_of(int channel) { return channel < 4 ? static_cast<size_t>(channel) : 0; }

    TrialPicture content(Size size, Place from) const
    {
        TrialPicture picture = {.size = size, .samples = {}};
        picture.samples.reserve(index_of(size, terms_.channels, 0, 0));
        for (int c = 0; c < terms_.channels; c++)
            for (int y = 0; y < size.height; y++)
                for (int x = 0; x < size.width; x++)
                    picture.samples.push_back(content_at(c, from.x + x, from.y + y) *
                                                  terms_.numbers.factor[number_of(c)] +
                                              terms_.numbers.offset[number_of(c)]);
        return picture;
    }

    // Runs the model on the picture with its first or last line, across the axis, changed.  Returns
    // nullopt if the model fails on NaN, as some do that count with their samples.
    std::optional<TrialPicture> run_with(Axis axis, TrialPicture picture, bool last,
                                         float impulse) const
    {
        const Size size = picture.size;
        const Place at = {last ? size.width - 1 : 0, last ? size.height - 1 : 0};
        for (int c = 0; c < terms_.channels; c++)
            for (int i = 0; i < (axis == Axis::across ? size.height : size.width); i++)
                picture.samples[axis == Axis::across ? index_of(size, c, at.x, i)
                                                     : index_of(size, c, i, at.y)] = impulse;
        try {
            return run_(picture);
        } catch (const Crash &) {
            throw;
        } catch (const Error &error) {
            if (!std::isnan(impulse) || error.code() != AVERROR_EXTERNAL)
                throw;
            return std::nullopt;
        }
    }

    static Changed compare(Axis axis, const TrialPicture &one, const TrialPicture &other)
    {
        if (one.size != other.size || one.samples.size() != other.samples.size())
            throw Error(AVERROR_INVALIDDATA,
                        "the size of the model's result depends on its content");
        const auto width = static_cast<size_t>(one.size.width);
        const auto height = static_cast<size_t>(one.size.height);
        Changed changed;
        for (size_t i = 0; i < one.samples.size(); i++) {
            if (one.samples[i] == other.samples[i]) // NaN differs from all
                continue;
            const auto place =
                static_cast<int>(axis == Axis::across ? i % width : i / width % height);
            changed.first = std::min(changed.first, place);
            changed.last = std::max(changed.last, place);
        }
        return changed;
    }

    // Finds what changes with the first and the last line of samples.  NaN passes through
    // arithmetic as no number does, and so finds also what rounding hides.  Functions that swallow
    // NaN let a large number and a small one through.
    void look(Axis which, const TrialPicture &picture, const TrialPicture &made,
              AxisLocality &axis) const
    {
        const float step = terms_.numbers.factor[0], black = terms_.numbers.offset[0];
        for (const float impulse :
             {std::numeric_limits<float>::quiet_NaN(), black + 40 * step, black - 0.37F * step})
            for (const bool last : {false, true}) {
                if (!axis.is_local)
                    return; // no other number could tell more
                if (const std::optional<TrialPicture> other =
                        run_with(which, picture, last, impulse))
                    add(axis, compare(which, *other, made), last, along(picture.size, which),
                        along(made.size, which));
            }
    }

    static void add(AxisLocality &axis, const Changed &changed, bool last, int extent, int made)
    {
        if (changed.last < 0)
            return;
        const int farthest = last ? changed.first : changed.last;
        if (farthest == (last ? 0 : made - 1))
            axis.is_local = false; // as far as could be seen
        const int place = farthest * axis.ratio.in / axis.ratio.out;
        axis.reach = std::max(axis.reach, last ? extent - 1 - place : place);
    }

    // Looks at longer strips while a sample changes all of them.
    void refine(Axis which, AxisLocality &axis)
    {
        for (const int length : {256, 512, 1024}) {
            if (axis.is_local || terms_.only)
                break;
            const TrialPicture picture = content(strip(which, length), {0, 0});
            const TrialPicture made = run_(picture);
            axis.is_local = true;
            axis.reach = 0;
            look(which, picture, made, axis);
        }
        if (axis.is_local)
            find_step(which, axis);
    }

    // Two windows into the same content must show the same where they overlap.
    void find_step(Axis which, AxisLocality &axis)
    {
        const int unit = terms_.only ? axis.ratio.in : std::lcm(terms_.multiple, axis.ratio.in);
        const int length = round_up(2 * axis.reach + 3 * small, std::lcm(small, unit));
        const Size size = terms_.only ? *terms_.only : strip(which, length);
        const TrialPicture first = run_(content(size, {0, 0}));
        for (int step = unit; step <= std::max(small, unit); step *= 2)
            if (shows_same(which, axis, step, size, first)) {
                axis.step = step;
                return;
            }
        axis.is_local = false;
    }

    bool shows_same(Axis which, const AxisLocality &axis, int step, Size size,
                    const TrialPicture &first) const
    {
        constexpr int enough = 8;
        const Ratio ratio = axis.ratio;
        const int begin = round_up(step + axis.reach, ratio.in);
        const int end = along(size, which) - axis.reach - ratio.in;
        if (end - begin < enough)
            return false;
        const Place from = which == Axis::across ? Place{step, 0} : Place{0, step};
        const TrialPicture second = run_(content(size, from));
        return first.size == second.size &&
               are_alike(which, first, second,
                         {begin / ratio.in * ratio.out, end * ratio.out / ratio.in},
                         step / ratio.in * ratio.out);
    }

    struct Span {
        int begin, end;
    };

    // LibTorch may sum up in another order; a model that looks elsewhere differs by more.
    static bool are_alike(Axis which, const TrialPicture &first, const TrialPicture &second,
                          Span span, int moved)
    {
        float largest = 1, difference = 0;
        const auto width = static_cast<size_t>(first.size.width);
        const auto height = static_cast<size_t>(first.size.height);
        const size_t stride = which == Axis::across ? 1 : width;
        for (size_t i = 0; i < first.samples.size(); i++) {
            const auto place =
                static_cast<int>(which == Axis::across ? i % width : i / width % height);
            if (place < span.begin || place >= span.end)
                continue;
            const float one = first.samples[i];
            const float other = second.samples[i - static_cast<size_t>(moved) * stride];
            largest = std::max(largest, std::abs(one));
            difference = std::max(difference, std::abs(one - other));
            if (!std::isfinite(one) || !std::isfinite(other))
                return false;
        }
        return difference <= 1e-4F * largest;
    }

    const TrialTerms &terms_;
    const RunTrial &run_;
};

} // namespace

Locality measure_locality(const TrialTerms &terms, const RunTrial &run)
{
    return Measurement(terms, run).measure();
}

} // namespace dnn_torch
