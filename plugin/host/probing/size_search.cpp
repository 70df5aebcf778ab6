// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "size_search.h"

#include "host/frames/tiling.h"

#include <algorithm>
#include <cstdint>

namespace dnn_torch
{
namespace
{

// Common sizes of models that take only one.
constexpr Size common_sizes[] = {
    {256, 256}, {224, 224}, {64, 64},    {128, 128}, {512, 512},   {32, 32},    {48, 48},
    {96, 96},   {112, 112}, {160, 160},  {192, 192}, {240, 240},   {299, 299},  {320, 320},
    {384, 384}, {416, 416}, {448, 448},  {480, 480}, {518, 518},   {576, 576},  {608, 608},
    {640, 640}, {672, 672}, {720, 720},  {768, 768}, {64, 48},     {48, 64},    {160, 96},
    {256, 192}, {320, 180}, {320, 240},  {640, 360}, {640, 480},   {720, 480},  {720, 576},
    {854, 480}, {800, 800}, {1024, 768}, {960, 540}, {1024, 1024}, {1280, 720}, {1920, 1080},
};

constexpr int largest_multiple = 64;

class Search
{
public:
    Search(Size frame, const TrySize &try_size) : frame_(frame), try_size_(try_size) {}

    std::optional<TakenSize> run()
    {
        for (const int multiple : {2, 4, 8, 16, 32, 64})
            if (takes(round_up(frame_, multiple))) {
                const int least = least_multiple(multiple);
                return found("multiples of " + std::to_string(least), least);
            }
        for (const int multiple : {2, 4, 8, 16, 32})
            if (takes(one_more(multiple)))
                return found(std::to_string(multiple) + "n + 1");
        for (const int least : {128, 256, 512})
            if (takes(at_least(round_up(frame_, 64), least)))
                return found("at least " + to_text(Size{least, least}));
        return std::nullopt;
    }

private:
    static Size at_least(Size size, int least)
    {
        return {std::max(size.width, least), std::max(size.height, least)};
    }

    // Returns the real multiple, which may be larger if the frame happens to be a multiple of it.
    int least_multiple(int multiple) const
    {
        while (multiple < largest_multiple &&
               !try_size_({last_.width + multiple, last_.height + multiple}))
            multiple *= 2;
        return multiple;
    }

    // Returns the size for networks that align corners.
    Size one_more(int multiple) const
    {
        const Size larger = round_up({frame_.width - 1, frame_.height - 1}, multiple);
        return {larger.width + 1, larger.height + 1};
    }

    bool takes(Size size)
    {
        if (size == last_ || size == frame_)
            return false;
        last_ = size;
        const std::optional<Size> made = try_size_(size);
        if (!made || !scales(size, *made))
            return false;
        made_ = *made;
        return true;
    }

    // The output's padding can be cropped only if the model has a constant scale.  A model that
    // crops borders seems to have one at some sizes, so a second size is tried.
    bool scales(Size size, Size made) const
    {
        constexpr int more = largest_multiple;
        const std::optional<Size> other = try_size_({size.width + more, size.height + more});
        const auto across = ratio_between(size.width, made.width);
        const auto down = ratio_between(size.height, made.height);
        return across && down && other && grows(*across, made.width, other->width, more) &&
               grows(*down, made.height, other->height, more);
    }

    static bool grows(Ratio ratio, int made, int other, int more)
    {
        return int64_t{other - made} * ratio.in == int64_t{more} * ratio.out;
    }

    TakenSize found(const std::string &rule, int multiple = 1) const
    {
        return {.size = last_, .made = made_, .multiple = multiple, .only = false, .rule = rule};
    }

    const Size frame_;
    const TrySize &try_size_;
    Size last_ = {0, 0}, made_ = {0, 0};
};

} // namespace

std::optional<TakenSize> find_taken_size(Size frame, std::optional<Size> declared,
                                         const TrySize &try_size)
{
    if (std::optional<TakenSize> taken = Search(frame, try_size).run())
        return taken;
    return find_only_size(declared, try_size);
}

std::optional<TakenSize> find_only_size(std::optional<Size> declared, const TrySize &try_size)
{
    std::optional<TakenSize> only;
    const auto add = [&](Size size) {
        const std::optional<Size> made = try_size(size);
        if (made)
            only = {.size = size,
                    .made = *made,
                    .multiple = 1,
                    .only = true,
                    .rule = to_text(size) + " only"};
        return made.has_value();
    };
    if (declared && add(*declared))
        return only;
    // A model that takes two of them follows another rule, which padding cannot meet.
    int taken = 0;
    for (const Size size : common_sizes)
        if (add(size) && ++taken > 1)
            return std::nullopt;
    return only;
}

} // namespace dnn_torch
