// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "find_sizes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <numeric>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;
using Extent = int Size::*;

struct OutOfTime {
};

// Sizes to try: first the one that the filter begins with, then common sizes of models of a fixed
// size.
constexpr Size common_sizes[] = {
    {small_extent, small_extent},
    {64, 48},
    {48, 64},
    {32, 32},
    {128, 128},
    {160, 96},
    {224, 224},
    {65, 65},
    {256, 256},
    {320, 180},
    {320, 240},
    {384, 384},
    {512, 512},
    {640, 360},
    {640, 480},
    {720, 480},
    {720, 576},
    {854, 480},
    {1280, 720},
};

Size changed(Size size, Extent extent, int value)
{
    size.*extent = value;
    return size;
}

class Search
{
public:
    Search(const TrySize &try_size, double seconds)
        : try_size_(try_size),
          end_(Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)))
    {
    }

    std::optional<FoundSizes> run(std::optional<Size> first)
    {
        try {
            if (!(first && begin_with(*first)) && !find_any())
                return std::nullopt;
            find_extents();
            found_.across = find_scale(&Size::width, found_.width.step);
            found_.down = find_scale(&Size::height, found_.height.step);
            found_.complete = true;
        } catch (OutOfTime) {
        }
        return found_.tried.width ? std::optional(found_) : std::nullopt;
    }

private:
    std::optional<Size> result(Size size)
    {
        if (Clock::now() > end_)
            throw OutOfTime();
        return try_size_(size);
    }

    bool takes(Size size) { return result(size).has_value(); }

    bool begin_with(Size size)
    {
        std::optional<Size> output = result(size);
        if (!output)
            return false;
        found_.tried = size;
        found_.result = *output;
        found_.width = {.step = 0, .smallest = size.width};
        found_.height = {.step = 0, .smallest = size.height};
        return true;
    }

    bool find_any()
    {
        return std::any_of(std::begin(common_sizes), std::end(common_sizes),
                           [this](Size size) { return begin_with(size); });
    }

    void find_extents()
    {
        find_extent(&Size::width, found_.width);
        find_extent(&Size::height, found_.height);
        // The smallest width and the smallest height need not work together.
        if (!takes({found_.width.smallest, found_.height.smallest})) {
            found_.width.smallest = found_.tried.width;
            found_.height.smallest = found_.tried.height;
        }
    }

    void find_extent(Extent extent, ExtentRule &rule)
    {
        int step = find_step(extent);
        rule.smallest = step ? find_smallest(extent, step) : found_.tried.*extent;
        rule.step = step;
    }

    int find_step(Extent extent)
    {
        // A network that halves and doubles may also take sizes a little below its multiples: 93
        // and 96 after 64, if those are of 32.  Eight steps on, such a step is taken no more.
        constexpr int far = 8;
        const auto takes_steps = [&](int step, int count) {
            return takes(changed(found_.tried, extent, found_.tried.*extent + count * step));
        };
        int nearest = 0;
        for (int step = 1; step <= small_extent; step++) {
            if (!takes_steps(step, 1))
                continue;
            if (step == 1 || takes_steps(step, far))
                return step;
            nearest = nearest ? nearest : step;
        }
        return nearest;
    }

    int find_smallest(Extent extent, int step)
    {
        int least = found_.tried.*extent % step;
        least = least ? least : step;
        int refused = -1, taken = (found_.tried.*extent - least) / step;
        while (taken - refused > 1) {
            int middle = (taken + refused) / 2;
            bool takes_it = takes(changed(found_.tried, extent, least + middle * step));
            (takes_it ? taken : refused) = middle;
        }
        return least + taken * step;
    }

    std::optional<ExtentScale> find_scale(Extent extent, int step)
    {
        if (!step)
            return std::nullopt;
        int input = found_.tried.*extent, output = found_.result.*extent;
        int more = (small_extent + step - 1) / step * step;
        std::optional<Size> larger = result(changed(found_.tried, extent, input + more));
        std::optional<Size> next = result(changed(found_.tried, extent, input + step));
        if (!larger || !next || *larger.*extent < output)
            return std::nullopt;
        int growth = *larger.*extent - output, common = std::gcd(growth, more);
        ExtentScale scale{.numerator = growth / common,
                          .denominator = more / common,
                          .offset = 0,
                          .rounded = false};
        scale.offset = output - input * scale.numerator / scale.denominator;
        long exact = static_cast<long>(input + step) * scale.numerator +
                     static_cast<long>(scale.offset) * scale.denominator;
        scale.rounded = exact != static_cast<long>(*next.*extent) * scale.denominator;
        return scale;
    }

    const TrySize &try_size_;
    Clock::time_point end_;
    FoundSizes found_{};
};

std::string words(const ExtentRule &rule)
{
    switch (rule.step) {
    case 0:
        return std::to_string(rule.smallest) + " only";
    case 1:
        return "any";
    case 2:
        return rule.smallest % 2 ? "odd ones only" : "even ones only";
    default:
        break;
    }
    std::string multiples = "multiples of ";
    multiples += std::to_string(rule.step);
    if (int more = rule.smallest % rule.step)
        multiples += " and " + std::to_string(more) + " more";
    return multiples;
}

std::string words(const ExtentScale &scale)
{
    std::string ratio = std::to_string(scale.numerator);
    if (scale.numerator == 0)
        return "always " + std::to_string(scale.offset);
    if (scale.denominator != 1) {
        ratio += '/';
        ratio += std::to_string(scale.denominator);
    }
    if (scale.offset) {
        ratio += scale.offset < 0 ? ", less " : ", plus ";
        ratio += std::to_string(abs(scale.offset));
    }
    ratio += scale.rounded ? ", rounded" : "";
    return ratio;
}

int fit_extent(const ExtentRule &rule, int most)
{
    if (!rule.step || most <= rule.smallest)
        return rule.smallest;
    return rule.smallest + (most - rule.smallest) / rule.step * rule.step;
}

} // namespace

std::optional<FoundSizes> find_sizes(const TrySize &try_size, double seconds,
                                     std::optional<Size> first)
{
    return Search(try_size, seconds).run(first);
}

Size fit_size(const FoundSizes &sizes, Size most)
{
    return {fit_extent(sizes.width, most.width), fit_extent(sizes.height, most.height)};
}

std::string sizes_in_words(const FoundSizes &sizes)
{
    Size smallest = {sizes.width.smallest, sizes.height.smallest};
    if (!sizes.complete)
        return to_text(sizes.tried) + " and maybe others; the model is too slow to try many";
    if (!sizes.width.step && !sizes.height.step)
        return to_text(smallest) + " only, as far as was tried";
    std::string rule = words(sizes.width);
    if (sizes.width.step != sizes.height.step || words(sizes.height) != rule)
        rule = "width " + rule + ", height " + words(sizes.height);
    return rule + ", from " + to_text(smallest);
}

std::string scale_in_words(const FoundSizes &sizes)
{
    if (!sizes.across || !sizes.down)
        return to_text(sizes.tried) + " becomes " + to_text(sizes.result);
    if (!sizes.across->numerator && !sizes.down->numerator)
        return "always " + to_text(sizes.result);
    std::string scale = words(*sizes.across);
    if (sizes.across != sizes.down)
        scale += " across, " + words(*sizes.down) + " down";
    return scale + " (" + to_text(sizes.tried) + " becomes " + to_text(sizes.result) + ")";
}

} // namespace dnn_torch
