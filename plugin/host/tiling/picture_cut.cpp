// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The part of PictureFitter that cuts pictures into tiles.
#include "base/compose.h"
#include "host/error.h"
#include "host/probing/model_trial.h"
#include "host/probing/seams.h"
#include "picture_fit.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace dnn_torch
{

namespace
{

constexpr int64_t beyond_pictures = 1 << 16; // no tile begins or ends there

// Returns the least common multiple, or beyond_pictures if that is smaller.
int least_step(int64_t one, int64_t other)
{
    return static_cast<int>(std::min(std::lcm(one, other), beyond_pictures));
}

} // namespace

const Locality &PictureFitter::locality(std::optional<Size> only, ChannelCounts channels)
{
    const bool is_known = locality_ && locality_channels_ == channels && locality_only_ == only;
    if (!is_known) {
        refusal_of_trial_.clear();
        nonlocal_operator_ =
            facts_.tiling == Tiling::unknown ? model_->metadata("nonlocal_operator") : "";
        const bool measures =
            facts_.tiling != Tiling::global && !parameters_.overlap && nonlocal_operator_.empty();
        locality_ = measures ? measure(only, channels) : assumed(only, channels);
        if (measures)
            widen(*locality_);
        if (measures && !locality_->is_local()) // then the measurement is incomplete
            locality_ = assumed(only, channels);
        seamless_.clear();
        if (!only && facts_.alignment > 0)
            align(*locality_);
        locality_channels_ = channels;
        locality_only_ = only;
    }
    return *locality_;
}

// The kernels in a model's code may reach farther than trials show, for example under a condition
// that no trial meets.
void PictureFitter::widen(Locality &locality) const
{
    std::istringstream text(model_->metadata("kernel_reach"));
    int64_t across = 0, down = 0, across_step = 0, down_step = 0;
    if (!(text >> across >> down >> across_step >> down_step) || across_step < 1 || down_step < 1)
        return; // nothing is known
    const auto widen = [](AxisLocality &axis, int64_t reach, int64_t step) {
        axis.is_local = axis.is_local && reach < beyond_pictures;
        axis.reach =
            static_cast<int>(std::max<int64_t>(axis.reach, std::min(reach, beyond_pictures)));
        axis.step = least_step(axis.step, step);
    };
    widen(locality.across, across, across_step);
    widen(locality.down, down, down_step);
}

// The contract may declare windows that no measurement shows.
void PictureFitter::align(Locality &locality) const
{
    for (AxisLocality *axis : {&locality.across, &locality.down})
        axis->step = least_step(axis->step, facts_.alignment);
}

TrialParameters PictureFitter::trial_parameters(std::optional<Size> only,
                                                ChannelCounts channels) const
{
    return {.channels = channels.in,
            .made = channels.made,
            .multiple = multiple(),
            .least = parameters_.minimum.value_or(Size{1, 1}),
            .only = only,
            .numbers = map_of(numbers_),
            .is_known = facts_.tiling == Tiling::local};
}

// Returns a locality that is not local if the model takes no picture that is large enough for a
// measurement, as one with a table of positions.
Locality PictureFitter::measure(std::optional<Size> only, ChannelCounts channels)
{
    TrialParameters parameters = trial_parameters(only, channels);
    try {
        return measure_on(*model_, parameters);
    } catch (const Error &error) {
        constexpr int large = 4 * small_extent;
        if (only)
            throw;
        if (error.code() == AVERROR_EXTERNAL && !parameters_.minimum)
            parameters.least = {large, large}; // it refused small pictures
        else if (error.code() == AVERROR(EINVAL) && find_rounding(channels))
            parameters.multiple = multiple(); // it rounded the trial's size
        else if (error.code() != AVERROR_EXTERNAL)
            throw;
    }
    try {
        return measure_on(*model_, parameters);
    } catch (const Error &error) {
        if (error.code() != AVERROR_EXTERNAL)
            throw;
        refusal_of_trial_ = error.what();
        return {};
    }
}

Locality PictureFitter::assumed(std::optional<Size> only, ChannelCounts channels)
{
    constexpr int default_step = 16; // aligns with all common windows of window transformers
    const int step = facts_.alignment > 0 ? 1 : default_step;
    const auto axis = [&](Ratio ratio) -> AxisLocality {
        return {.is_local = false,
                .reach = 0,
                .step = std::lcm(std::lcm(multiple(), ratio.in), step),
                .ratio = ratio};
    };
    const Ratios ratios = find_ratios(only, channels);
    return {.across = axis(ratios.across), .down = axis(ratios.down)};
}

namespace
{

struct AxisPlan {
    TileAxis axis;
    int least; // the smallest tile that gives exact results
};

// Plans exact tiles along one axis.  Where the picture ends within a step, so do all tiles, and a
// model that fills up its first and its last step by itself makes up parts of both.
AxisPlan plan_axis(const AxisLocality &found, int extent, int kept, int wanted, int least)
{
    const int reach = found.reach + (extent % found.step ? found.step - 1 : 0);
    int tile = aligned_tile(extent, std::max(wanted, least), found.step);
    while (tile < least && tile < extent)
        tile += found.step;
    return {.axis = {.extent = extent,
                     .tile = std::min(tile, extent),
                     .reach = reach,
                     .step = found.step,
                     .ratio = found.ratio,
                     .kept = kept,
                     .blended = false},
            .least = least_tile(reach, found.step, found.ratio)};
}

// Returns 0 for an empty text.
int64_t number_in(const std::string &text)
{
    return std::strtoll(text.c_str(), nullptr, 10);
}

// Returns a tile that has more than `small_samples` after it is aligned to the steps.  A smaller
// one would not give the same bytes as the whole picture.
Size large_enough(Size tile, Size padded, const Locality &found, int channels,
                  int64_t small_samples)
{
    const auto left = [](int extent, int whole, int step) {
        return int64_t{extent < whole ? std::max(extent - step + 1, 1) : whole};
    };
    while (tile.width < padded.width || tile.height < padded.height) {
        tile = {std::min(tile.width, padded.width), std::min(tile.height, padded.height)};
        if (left(tile.width, padded.width, found.across.step) *
                left(tile.height, padded.height, found.down.step) * channels >
            small_samples)
            break;
        const bool widens = tile.height >= padded.height ||
                            (tile.width <= tile.height && tile.width < padded.width);
        (widens ? tile.width : tile.height)++;
    }
    return tile;
}

bool covers(Size one, Size other)
{
    return one.width >= other.width && one.height >= other.height;
}

bool is_exact(const AxisPlan &plan)
{
    return plan.axis.tile == plan.axis.extent || plan.axis.tile >= plan.least;
}

std::string warning_of_reach(const AxisPlan &across, const AxisPlan &down)
{
    return concat("the model looks ", std::max(across.axis.reach, down.axis.reach),
                  " pixels far: tiles of ", to_text(Size{across.axis.tile, down.axis.tile}),
                  " cannot give the same result, and are blended; with tile=",
                  std::max(across.least + across.axis.step, down.least + down.axis.step),
                  " they could");
}

// Makes tiles overlap and blend, by `overlap` on each side if they are large enough.
void blend(TileAxis &axis, std::optional<int> overlap)
{
    constexpr int by_default = 32;
    const int most = std::max((axis.tile - axis.step) / 2 - axis.ratio.in, 0);
    axis.reach = std::min({overlap.value_or(by_default), overlap ? most : axis.tile / 4, most});
    axis.blended = true;
}

} // namespace

// Returns whether tiles that should be exact are not.  A model of one size cannot run the whole
// picture, so there is nothing to compare with.
bool PictureFitter::shows_seams(const PictureFit &fit, const TileAxis &across, const TileAxis &down,
                                ChannelCounts channels)
{
    const Size tile = {across.tile, down.tile};
    if (fit.only || facts_.tiling == Tiling::local)
        return false;
    for (size_t i = 0; i + 1 < seamless_.size(); i += 2)
        if (seamless_[i] == fit.padded && seamless_[i + 1] == tile)
            return false;
    std::vector<Cut> cuts;
    const auto add = [&](Axis axis, const TileAxis &how) {
        if (std::vector<TileSpan> spans = cut_axis(how); spans.size() > 1)
            cuts.push_back(
                {.axis = axis, .extent = how.extent, .tile = how.tile, .spans = std::move(spans)});
    };
    add(Axis::across, across);
    add(Axis::down, down);
    if (!cuts.empty() && !is_seamless_on(*model_, trial_parameters(std::nullopt, channels), cuts))
        return true;
    seamless_.insert(seamless_.end(), {fit.padded, tile});
    return false;
}

std::string PictureFitter::warning_of_locality() const
{
    if (!refusal_of_trial_.empty())
        return concat("the model takes no picture that would show how far it looks (",
                      refusal_of_trial_, "): tiles may not give the same result, and are blended");
    if (nonlocal_operator_.empty())
        return "the model looks at the whole picture: tiles cannot give the same result, and are "
               "blended";
    return concat("the model may look at the whole picture (", nonlocal_operator_,
                  "): tiles may not give the same result, and are blended; if you know better, "
                  "write \"tiling\": \"local\" into its contract");
}

TileGrid PictureFitter::cut(const PictureFit &fit, Size wanted, ChannelCounts channels)
{
    if (!fit.only && covers(round_up(wanted, multiple()), fit.padded))
        return whole(fit);
    const Locality &found = locality(fit.only, channels);
    const Size least = fit.only.value_or(parameters_.minimum.value_or(Size{1, 1}));
    const int64_t small_samples = number_in(model_->metadata("small_samples"));
    const Size tile =
        fit.only.value_or(large_enough(wanted, fit.padded, found, channels.in, small_samples));
    AxisPlan across =
        plan_axis(found.across, fit.padded.width, fit.made.width, tile.width, least.width);
    AxisPlan down =
        plan_axis(found.down, fit.padded.height, fit.made.height, tile.height, least.height);
    TileGrid grid;
    if (!found.is_local())
        grid.warning = parameters_.overlap ? "" : warning_of_locality();
    else if (!is_exact(across) || !is_exact(down))
        grid.warning = warning_of_reach(across, down);
    grid.is_blended = !found.is_local() || !is_exact(across) || !is_exact(down);
    if (!grid.is_blended && shows_seams(fit, across.axis, down.axis, channels)) {
        locality_->across.is_local = false;
        return cut(fit, wanted, channels);
    }
    if (grid.is_blended) {
        blend(across.axis, parameters_.overlap);
        blend(down.axis, parameters_.overlap);
        if (const int most = std::max(across.axis.reach, down.axis.reach);
            parameters_.overlap > most)
            add_to_list(grid.warning,
                        concat("overlap=", *parameters_.overlap, " is more than tiles of ",
                               to_text(Size{across.axis.tile, down.axis.tile}),
                               " have room for: they overlap by ", counted(most, "pixel"),
                               " on each side"),
                        "; ");
    }
    grid.tile = {across.axis.tile, down.axis.tile};
    grid.across = cut_axis(across.axis);
    grid.down = cut_axis(down.axis);
    if (grid.across.empty() || grid.down.empty())
        throw Error(AVERROR(EINVAL), concat("tiles of ", to_text(grid.tile),
                                            " are too small for the model; make tile larger"));
    if (grid.count() == 1)
        return whole(fit);
    grid.note =
        concat(grid.across.size() * grid.down.size(), " tiles of ", to_text(grid.tile),
               " a frame, which overlap by ", across.axis.reach, "x", down.axis.reach,
               " on each side and begin at multiples of ", found.across.step, "x", found.down.step);
    return grid;
}

TileGrid PictureFitter::whole(const PictureFit &fit)
{
    TileGrid grid;
    grid.tile = fit.padded;
    grid.across = {
        {.start = 0, .offset = 0, .begin = 0, .end = fit.made.width, .rise = 0, .fall = 0}};
    grid.down = {
        {.start = 0, .offset = 0, .begin = 0, .end = fit.made.height, .rise = 0, .fall = 0}};
    return grid;
}

Size PictureFitter::part_of(Size tile, double share)
{
    constexpr int least = 16;
    const double wanted = static_cast<double>(tile.width) * tile.height * share;
    while (static_cast<double>(tile.width) * tile.height > wanted &&
           std::max(tile.width, tile.height) > least) {
        int &larger = tile.width >= tile.height ? tile.width : tile.height;
        larger = (larger + 1) / 2;
    }
    return tile;
}

} // namespace dnn_torch
