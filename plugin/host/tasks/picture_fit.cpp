// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_fit.h"

#include "base/compose.h"
#include "host/error.h"
#include "model_probe.h"
#include "model_trial.h"
#include "size_search.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace dnn_torch
{
namespace
{

// A model that takes no size mostly says so at once.  One that computes long before it fails must
// not do so at each of many sizes.
constexpr std::chrono::seconds longest_search(10);

// Whether an error says that the model refuses pictures of a size.
bool is_refusal(const Error &error)
{
    return error.code() == AVERROR_EXTERNAL || error.code() == AVERROR_INVALIDDATA ||
           error.code() == AVERROR(EINVAL);
}

Size larger_of(Size one, Size other)
{
    return {std::max(one.width, other.width), std::max(one.height, other.height)};
}

Size rounded_up(Size size, int multiple)
{
    return {round_up(size.width, multiple), round_up(size.height, multiple)};
}

int scaled(int extent, double scale)
{
    return std::max(static_cast<int>(std::lround(extent * scale)), 1);
}

int made_of(int extent, Ratio ratio)
{
    return static_cast<int>((int64_t{extent} * ratio.out + ratio.in - 1) / ratio.in);
}

// Returns what is left of `made` of `padded` if only `seen` of it is kept.
Size cropped(Size seen, Size padded, Size made)
{
    if (seen == padded)
        return made;
    const std::optional<Ratio> across = ratio_between(padded.width, made.width);
    const std::optional<Ratio> down = ratio_between(padded.height, made.height);
    if (!across || !down)
        throw Error(AVERROR(EINVAL),
                    concat("the model makes ", to_text(made), " of ", to_text(padded),
                           ", which has no simple scale: what it makes of the padding cannot be "
                           "cut off"));
    return {made_of(seen.width, *across), made_of(seen.height, *down)};
}

Size fitted(Size frame, Size only)
{
    const double factor = std::min(static_cast<double>(only.width) / frame.width,
                                   static_cast<double>(only.height) / frame.height);
    return {std::min(scaled(frame.width, factor), only.width),
            std::min(scaled(frame.height, factor), only.height)};
}

} // namespace

PictureFitter::PictureFitter(std::shared_ptr<Model> model, const Contract &contract)
    : model_(std::move(model)), terms_(contract.sizes), facts_(contract.model),
      numbers_(contract.input)
{
}

Size PictureFitter::try_size(Size size, ChannelCounts channels)
{
    return probe_size(*model_, size, channels.in, channels.made);
}

// Returns the size that the model's file tells, if it tells all of one.
std::optional<Size> PictureFitter::told_size() const
{
    const std::vector<DnnTorchTensorInfo> inputs = model_->tensors(DNN_TORCH_INPUTS);
    constexpr int64_t most = 1 << 16;
    if (inputs.empty() || inputs.front().rank != 4)
        return std::nullopt;
    const int64_t width = inputs.front().dims[3], height = inputs.front().dims[2];
    if (width < 1 || height < 1 || width > most || height > most)
        return std::nullopt;
    return Size{static_cast<int>(width), static_cast<int>(height)};
}

PictureFit PictureFitter::fit(Size frame, ChannelCounts channels)
{
    PictureFit fit = {
        .frame = frame, .seen = frame, .padded = frame, .made = frame, .target = frame};
    if (terms_.only)
        fit_to_only(fit, *terms_.only, try_size(*terms_.only, channels), channels);
    else
        fit_to_rule(fit, channels);
    return fit;
}

Size PictureFitter::target_of(const PictureFit &fit, Size usual) const
{
    if (terms_.target)
        return *terms_.target;
    if (terms_.scale > 0)
        return {scaled(fit.frame.width, terms_.scale), scaled(fit.frame.height, terms_.scale)};
    return usual;
}

void PictureFitter::fit_to_rule(PictureFit &fit, ChannelCounts channels)
{
    fit.padded = rounded_up(larger_of(fit.frame, terms_.minimum.value_or(Size{1, 1})), multiple());
    if (terms_.tile && !terms_.never_tiles() &&
        (terms_.tile->width < fit.padded.width || terms_.tile->height < fit.padded.height))
        return fit_in_tiles(fit, channels);
    try {
        fit.made = cropped(fit.seen, fit.padded, try_size(fit.padded, channels));
        fit.target = target_of(fit, fit.made);
        if (fit.padded != fit.frame)
            fit.note = note_of_padding(fit);
    } catch (const Crash &) {
        throw;
    } catch (const Error &error) {
        if (error.code() == AVERROR(ENOMEM) && !terms_.never_tiles()) {
            fit_in_tiles(fit, channels);
            fit.note = concat("the model does not fit into memory at ", to_text(fit.padded),
                              " and runs in tiles");
            return;
        }
        if (error.code() != AVERROR_EXTERNAL || terms_.multiple || terms_.minimum)
            throw;
        fit_by_search(fit, channels, error);
    }
}

std::string PictureFitter::note_of_padding(const PictureFit &fit) const
{
    return concat("frames are padded to ", to_text(fit.padded),
                  found_rule_.empty() ? "" : "; the model takes ", found_rule_);
}

void PictureFitter::fit_by_search(PictureFit &fit, ChannelCounts channels, const Error &refused)
{
    const auto end = std::chrono::steady_clock::now() + longest_search;
    const TrySize try_it = [&](Size size) -> std::optional<Size> {
        if (std::chrono::steady_clock::now() > end)
            throw refused;
        try {
            return fit.is_tiled ? try_representative(size, channels) : try_size(size, channels);
        } catch (const Crash &) {
            throw;
        } catch (const Error &error) {
            if (!is_refusal(error) && error.code() != AVERROR(ENOMEM))
                throw;
            return std::nullopt;
        }
    };
    const std::optional<TakenSize> taken = find_taken_size(fit.frame, told_size(), try_it);
    if (!taken)
        throw refused;
    if (taken->only)
        return fit_to_only(fit, taken->size, taken->made, channels);
    found_multiple_ = std::lcm(found_multiple_, taken->multiple);
    fit.padded = taken->size;
    fit.made = cropped(fit.seen, fit.padded, taken->made);
    fit.target = target_of(fit, fit.made);
    found_rule_ = taken->rule;
    fit.note = note_of_padding(fit);
}

// ---- a model of one size ------------------------------------------------------

void PictureFitter::fit_to_only(PictureFit &fit, Size only, Size made, ChannelCounts channels)
{
    const Size frame = fit.frame;
    const bool is_small = frame.width <= only.width && frame.height <= only.height;
    Fit how = terms_.fit;
    if (how == Fit::automatic)
        how = is_small || locality(only, channels).is_local() ? Fit::tile : Fit::letterbox;
    fit.only = only;
    fit.padded = only;
    if (how == Fit::scale) {
        fit.seen = only;
        fit.made = made;
    } else {
        if (how == Fit::letterbox)
            fit.seen = fitted(frame, only);
        fit.made = cropped(fit.seen, only, made);
    }
    if (how == Fit::tile && !is_small) {
        const Locality &found = locality(only, channels);
        fit.padded = {
            only.width + round_up(std::max(frame.width - only.width, 0), found.across.step),
            only.height + round_up(std::max(frame.height - only.height, 0), found.down.step)};
        fit.is_tiled = true;
        fit.made = {made_of(frame.width, found.across.ratio),
                    made_of(frame.height, found.down.ratio)};
    }
    const auto as_frame = [&](int extent, int of_frame, int of_seen) {
        return static_cast<int>(std::lround(static_cast<double>(extent) * of_frame / of_seen));
    };
    fit.target = target_of(fit, {as_frame(fit.made.width, frame.width, fit.seen.width),
                                 as_frame(fit.made.height, frame.height, fit.seen.height)});
    const char *const words = fit.is_tiled            ? "cut into tiles of it"
                              : fit.seen != fit.frame ? "scaled to it"
                                                      : "padded to it";
    if (fit.padded != fit.frame || fit.is_tiled)
        fit.note = concat("the model takes ", to_text(only), " alone: frames are ", words);
}

// ---- tiles ----------------------------------------------------------------------

// Returns a small size that leaves the same rest as `padded`, whatever a model divides by.
Size PictureFitter::representative(Size padded) const
{
    constexpr int period = small_extent, least = 2 * period;
    const Size minimum = terms_.minimum.value_or(Size{1, 1});
    const auto small = [&](int extent, int lowest) {
        const int base = round_up(std::max(least, lowest), std::lcm(period, multiple()));
        return extent < base + period ? extent : base + extent % std::lcm(period, multiple());
    };
    return {small(padded.width, minimum.width), small(padded.height, minimum.height)};
}

// Returns what the model would make of `padded`, without running it on so much.
std::optional<Size> PictureFitter::try_representative(Size padded, ChannelCounts channels)
{
    const Size sample = representative(padded), made = try_size(sample, channels);
    if (sample == padded)
        return made;
    const int extent =
        round_up(std::max({2 * small_extent, terms_.minimum.value_or(Size{1, 1}).width,
                           terms_.minimum.value_or(Size{1, 1}).height}),
                 multiple());
    const Size even = try_size({extent, extent}, channels);
    const std::optional<Ratio> across = ratio_between(extent, even.width);
    const std::optional<Ratio> down = ratio_between(extent, even.height);
    if (!across || !down)
        throw Error(AVERROR(EINVAL),
                    concat("the model makes ", to_text(even), " of ", to_text(Size{extent, extent}),
                           ", which has no simple scale, and cannot run in tiles; use tile=0"));
    return Size{made.width + made_of(padded.width - sample.width, *across),
                made.height + made_of(padded.height - sample.height, *down)};
}

void PictureFitter::fit_in_tiles(PictureFit &fit, ChannelCounts channels)
{
    fit.is_tiled = true;
    try {
        fit.made = cropped(fit.seen, fit.padded, *try_representative(fit.padded, channels));
        fit.target = target_of(fit, fit.made);
    } catch (const Crash &) {
        throw;
    } catch (const Error &error) {
        if (error.code() != AVERROR_EXTERNAL || terms_.multiple || terms_.minimum)
            throw;
        fit_by_search(fit, channels, error);
    }
}

const Locality &PictureFitter::locality(std::optional<Size> only, ChannelCounts channels)
{
    const bool is_known = locality_ && locality_channels_ == channels && locality_only_ == only;
    if (!is_known) {
        far_operator_ = facts_.tiling == Tiling::unknown ? model_->metadata("far_operator") : "";
        const bool measures =
            facts_.tiling != Tiling::global && !terms_.overlap && far_operator_.empty();
        locality_ = measures ? measure(only, channels) : assumed(only, channels);
        seamless_.clear();
        if (!only && facts_.alignment > 0)
            align(*locality_);
        locality_channels_ = channels;
        locality_only_ = only;
    }
    return *locality_;
}

// The contract may know of windows that no measurement shows.
void PictureFitter::align(Locality &locality) const
{
    constexpr int64_t largest = 1 << 16; // no tile begins there
    for (AxisLocality *axis : {&locality.across, &locality.down})
        axis->step =
            static_cast<int>(std::min(std::lcm<int64_t>(axis->step, facts_.alignment), largest));
}

TrialTerms PictureFitter::trial_terms(std::optional<Size> only, ChannelCounts channels) const
{
    return {.channels = channels.in,
            .made = channels.made,
            .multiple = multiple(),
            .least = terms_.minimum.value_or(Size{1, 1}),
            .only = only,
            .numbers = map_of(numbers_),
            .is_known = facts_.tiling == Tiling::local};
}

Locality PictureFitter::measure(std::optional<Size> only, ChannelCounts channels)
{
    TrialTerms terms = trial_terms(only, channels);
    try {
        return measure_on(*model_, terms);
    } catch (const Crash &) {
        throw;
    } catch (const Error &error) {
        constexpr int large = 4 * small_extent;
        if (error.code() != AVERROR_EXTERNAL || only || terms_.minimum)
            throw;
        terms.least = {large, large}; // it refused small pictures
        return measure_on(*model_, terms);
    }
}

// Window transformers of all usual windows lie well at multiples of this.
Locality PictureFitter::assumed(std::optional<Size> only, ChannelCounts channels)
{
    constexpr int usual_step = 16;
    const int step = facts_.alignment > 0 ? 1 : usual_step;
    const Size size = only.value_or(rounded_up(
        larger_of({2 * small_extent, 2 * small_extent}, terms_.minimum.value_or(Size{1, 1})),
        multiple()));
    const Size made = try_size(size, channels);
    const auto axis = [&](int extent, int made_extent) -> AxisLocality {
        const std::optional<Ratio> ratio = ratio_between(extent, made_extent);
        if (!ratio)
            throw Error(AVERROR(EINVAL), concat("the model makes ", to_text(made), " of ",
                                                to_text(size), " and cannot run in tiles"));
        return {.is_local = false,
                .reach = 0,
                .step = std::lcm(std::lcm(multiple(), ratio->in), step),
                .ratio = *ratio};
    };
    return {.across = axis(size.width, made.width), .down = axis(size.height, made.height)};
}

namespace
{

struct AxisPlan {
    TileAxis axis;
    int least; // the smallest tile that gives exact results
};

// How one axis is cut if the tiles are to be exact.
AxisPlan plan_axis(const AxisLocality &found, int extent, int kept, int wanted, int least)
{
    int tile = aligned_tile(extent, std::max(wanted, least), found.step);
    while (tile < least && tile < extent)
        tile += found.step;
    return {.axis = {.extent = extent,
                     .tile = std::min(tile, extent),
                     .reach = found.reach,
                     .step = found.step,
                     .ratio = found.ratio,
                     .kept = kept,
                     .blended = false},
            .least = least_tile(found.reach, found.step, found.ratio)};
}

// LibTorch computes convolutions of at most this many samples in another way, and rounds otherwise.
// A smaller tile would not give the bytes of the whole.
constexpr int small_samples = 20480;

// Returns a tile that stays large enough if it is aligned to the steps.
Size large_enough(Size tile, Size padded, const Locality &found, int channels)
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

bool is_exact(const AxisPlan &plan)
{
    return plan.axis.tile == plan.axis.extent || plan.axis.tile >= plan.least;
}

// Blends where tiles overlap, by `overlap` on each side if they are large enough.
void blend(TileAxis &axis, std::optional<int> overlap)
{
    constexpr int usual = 32;
    const int most = std::max((axis.tile - axis.step) / 2 - axis.ratio.in, 0);
    axis.reach = std::min({overlap.value_or(usual), overlap ? most : axis.tile / 4, most});
    axis.blended = true;
}

} // namespace

// Whether tiles that should be exact are not.  A model of one size has no whole to compare with.
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
    if (!cuts.empty() && !is_seamless_on(*model_, trial_terms(std::nullopt, channels), cuts))
        return true;
    seamless_.insert(seamless_.end(), {fit.padded, tile});
    return false;
}

std::string PictureFitter::doubt_of_locality() const
{
    if (far_operator_.empty())
        return "the model looks at the whole picture: tiles cannot give the same result, and are "
               "blended";
    return concat("the model may look at the whole picture (", far_operator_,
                  "): tiles may not give the same result, and are blended; if you know better, "
                  "write \"tiling\": \"local\" into its contract");
}

TileGrid PictureFitter::cut(const PictureFit &fit, Size wanted, ChannelCounts channels)
{
    const Locality &found = locality(fit.only, channels);
    const Size least = fit.only.value_or(terms_.minimum.value_or(Size{1, 1}));
    const Size tile = fit.only.value_or(large_enough(wanted, fit.padded, found, channels.in));
    AxisPlan across =
        plan_axis(found.across, fit.padded.width, fit.made.width, tile.width, least.width);
    AxisPlan down =
        plan_axis(found.down, fit.padded.height, fit.made.height, tile.height, least.height);
    TileGrid grid;
    if (!found.is_local())
        grid.doubt = terms_.overlap ? "" : doubt_of_locality();
    else if (!is_exact(across) || !is_exact(down))
        grid.doubt = concat(
            "the model looks ", std::max(found.across.reach, found.down.reach),
            " pixels far: tiles of ", to_text(Size{across.axis.tile, down.axis.tile}),
            " cannot give the same result, and are blended; with tile=",
            std::max(across.least + across.axis.step, down.least + down.axis.step), " they could");
    grid.is_blended = !found.is_local() || !is_exact(across) || !is_exact(down);
    if (!grid.is_blended && shows_seams(fit, across.axis, down.axis, channels)) {
        locality_->across.is_local = false;
        return cut(fit, wanted, channels);
    }
    if (grid.is_blended) {
        blend(across.axis, terms_.overlap);
        blend(down.axis, terms_.overlap);
    }
    grid.tile = {across.axis.tile, down.axis.tile};
    grid.across = cut_axis(across.axis);
    grid.down = cut_axis(down.axis);
    if (grid.across.empty() || grid.down.empty())
        throw Error(AVERROR(EINVAL), concat("tiles of ", to_text(grid.tile),
                                            " are too small for the model; make tile larger"));
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
