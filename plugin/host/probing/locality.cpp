// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "locality.h"

#include "base/compose.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

namespace dnn_torch
{
namespace
{

constexpr int longest_step = 64, default_length = 1024;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

// The changed part of a result: its first and last place along an axis, in samples of the result.
struct Changed {
    int first = std::numeric_limits<int>::max(), last = -1;
};

// Lines of a picture, across an axis.
struct Lines {
    int begin, end;
};

// The measurement of one axis.
class Measurement
{
public:
    Measurement(const TrialParameters &parameters, const RunTrial &run, Axis axis)
        : parameters_(parameters), run_(run), axis_(axis),
          size_(strip(parameters, axis, default_length)), length_(along(size_, axis)),
          block_(block_of(parameters, length_))
    {
    }

    AxisLocality measure()
    {
        find_reach(Content::noise);
        if (!parameters_.is_known)
            for (const Content content : {Content::dark, Content::bright})
                find_reach(content);
        if (found_.is_local)
            find_step();
        return found_;
    }

private:
    // Whole blocks are changed.  The reach of a block beyond its edge is what a tile that ends
    // there would lack, whatever the model's stride is within the block.
    static int block_of(const TrialParameters &parameters, int length)
    {
        const int64_t even =
            std::lcm<int64_t>(longest_step, parameters.only ? 1 : parameters.multiple);
        if (even * 4 <= length)
            return static_cast<int>(even);
        int block = longest_step;
        while (block > 1 && block * 4 > length)
            block /= 2;
        return block;
    }

    void set_ratio(int made)
    {
        const std::optional<Ratio> ratio = ratio_between(length_, made);
        if (!ratio)
            throw Error(AVERROR(EINVAL), "the model makes " + counted(made, "pixel") + " of " +
                                             std::to_string(length_) +
                                             ", which is no multiple and no simple fraction");
        found_.ratio = *ratio;
    }

    // NaN survives all arithmetic, so it also shows what rounding hides from numbers.  Functions
    // that swallow NaN let a large number and a small one through.  If the brightest or the
    // darkest sample wins, changes show only in content of the other kind.
    void find_reach(Content content)
    {
        const TrialPicture picture = trial_picture(parameters_, content, size_, axis_);
        const TrialPicture made = run_(picture);
        set_ratio(along(made.size, axis_));
        const int middle = length_ / 2 / block_ * block_;
        const Lines block = {middle, std::min(middle + block_, length_)};
        if (content != Content::noise)
            return change_block(picture, made, block, content == Content::dark ? 1.0F : 0.0F);
        change(picture, made, {0, block_}, not_a_number);
        change(picture, made, {(length_ - 1) / block_ * block_, length_}, not_a_number);
        change(picture, made, block, not_a_number);
        if (parameters_.is_known)
            return;
        for (const float value : {40.0F, -0.37F})
            change_block(picture, made, block, value);
    }

    // A single line may have an effect where a block has none, and vice versa.
    void change_block(const TrialPicture &picture, const TrialPicture &made, Lines block,
                      float value)
    {
        change(picture, made, block, value);
        change(picture, made, block, value, Lines{block.begin, block.begin + 1});
        change(picture, made, block, value, Lines{block.end - 1, block.end});
    }

    // Changes all of a block or some lines of it.
    void change(const TrialPicture &picture, const TrialPicture &made, Lines block, float value,
                std::optional<Lines> lines = {})
    {
        if (!found_.is_local)
            return; // no other value could change that
        if (const auto other = run_with(picture, lines.value_or(block), value))
            add(compare(*other, made), block, along(made.size, axis_));
    }

    // Returns nullopt if the model fails on what no frame has, as do some that use samples as
    // indices.
    std::optional<TrialPicture> run_with(TrialPicture picture, Lines lines, float value) const
    {
        for (size_t i = 0; i < picture.samples.size(); i++) {
            const int place = place_of(i, size_, axis_);
            const size_t channel = number_of(static_cast<int>(i / index_of(size_, 1, 0, 0)));
            if (place >= lines.begin && place < lines.end)
                picture.samples[i] = parameters_.numbers.offset[channel] +
                                     value * parameters_.numbers.factor[channel];
        }
        try {
            return run_(picture);
        } catch (const Error &error) {
            const bool is_usual = value >= 0 && value <= 1;
            if (is_usual || error.code() != AVERROR_EXTERNAL)
                throw;
            return std::nullopt;
        }
    }

    Changed compare(const TrialPicture &one, const TrialPicture &other) const
    {
        if (one.size != other.size || one.samples.size() != other.samples.size())
            throw Error(AVERROR_INVALIDDATA,
                        "the size of the model's result depends on its content");
        Changed changed;
        for (size_t i = 0; i < one.samples.size(); i++) {
            if (one.samples[i] == other.samples[i]) // NaN differs from everything
                continue;
            const int place = place_of(i, one.size, axis_);
            changed.first = std::min(changed.first, place);
            changed.last = std::max(changed.last, place);
        }
        return changed;
    }

    // A change in the middle that reaches the picture's edge means nothing, unless changes at the
    // edges have shown a shorter reach.
    void add(const Changed &changed, Lines lines, int made)
    {
        if (changed.last < 0)
            return;
        const bool meets_begin = changed.first == 0, meets_end = changed.last == made - 1;
        const int before = lines.begin - changed.first * found_.ratio.in / found_.ratio.out;
        const int after =
            round_up((changed.last + 1) * found_.ratio.in, found_.ratio.out) / found_.ratio.out -
            lines.end;
        const bool is_edge = lines.begin == 0 || lines.end == length_;
        const bool is_too_far =
            (meets_begin && lines.begin > 0 && (is_edge || before > found_.reach)) ||
            (meets_end && lines.end < length_ && (is_edge || after > found_.reach));
        found_.is_local = !is_too_far;
        found_.reach = std::max({found_.reach, before, after});
    }

    // Two windows into the same content must give the same result where they overlap.
    void find_step()
    {
        const int in = found_.ratio.in;
        const int unit = parameters_.only ? in : std::lcm(parameters_.multiple, in);
        const int length =
            round_up(2 * found_.reach + 3 * longest_step + 2 * std::max(longest_step, unit),
                     std::lcm(longest_step, unit));
        const Size size = strip(parameters_, axis_, length);
        const TrialPicture first = run_(trial_picture(parameters_, Content::noise, size, axis_));
        for (int step = unit; step <= std::max(longest_step, unit); step *= 2) {
            const int reach = found_.reach + (block_ % step ? step - 1 : 0);
            if (!shows_same(step, reach, size, first))
                continue;
            found_.step = step;
            found_.reach = reach;
            return;
        }
        found_.is_local = false;
    }

    bool shows_same(int step, int reach, Size size, const TrialPicture &first) const
    {
        constexpr int enough = 8;
        const Ratio ratio = found_.ratio;
        const int begin = round_up(step + reach, ratio.in);
        const int end = along(size, axis_) - reach - ratio.in;
        if (end - begin < enough)
            return false;
        const TrialPicture second =
            run_(trial_picture(parameters_, Content::noise, size, axis_, step));
        if (first.size != second.size)
            return false;
        const size_t moved = static_cast<size_t>(step / ratio.in * ratio.out) *
                             (axis_ == Axis::across ? 1 : static_cast<size_t>(first.size.width));
        Resemblance likeness;
        for (size_t i = 0; i < first.samples.size(); i++) {
            const int place = place_of(i, first.size, axis_);
            if (place >= begin / ratio.in * ratio.out && place < end * ratio.out / ratio.in)
                likeness.add(first.samples[i], second.samples[i - moved]);
        }
        return likeness.holds(parameters_);
    }

    const TrialParameters &parameters_;
    const RunTrial &run_;
    const Axis axis_;
    const Size size_;
    const int length_, block_;
    AxisLocality found_ = {.is_local = true, .reach = 0, .step = 1, .ratio = {}};
};

} // namespace

Locality measure_locality(const TrialParameters &parameters, const RunTrial &run)
{
    return {.across = Measurement(parameters, run, Axis::across).measure(),
            .down = Measurement(parameters, run, Axis::down).measure()};
}

} // namespace dnn_torch
