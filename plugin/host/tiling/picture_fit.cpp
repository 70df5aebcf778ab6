// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_fit.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/probing/model_probe.h"
#include "host/probing/size_search.h"

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

// Most models refuse a size at once.  The limit is for a model that computes long before it fails,
// and would do so for each of many sizes.
constexpr std::chrono::seconds longest_search(10);

constexpr const char *untried = "; no other size is tried, as a multiple or a minimum is given";

// Returns whether the model refuses pictures of that size.
bool is_refusal(const Error &error)
{
    return error.code() == AVERROR_EXTERNAL || error.code() == AVERROR_INVALIDDATA ||
           error.code() == AVERROR(EINVAL);
}

constexpr int period_of_multiples = 3 * small_extent; // a multiple of all that are searched

int scaled(int extent, double scale)
{
    return std::max(static_cast<int>(std::lround(extent * scale)), 1);
}

// Returns whether a model that keeps sizes may have rounded this one, or cropped borders.
bool is_nearly(Size padded, Size made)
{
    const auto differ = [](int one, int other) { return std::abs(one - other); };
    return padded != made && differ(padded.width, made.width) < small_extent &&
           differ(padded.height, made.height) < small_extent &&
           !(ratio_between(padded.width, made.width) && ratio_between(padded.height, made.height));
}

int scaled(int extent, Ratio ratio)
{
    return static_cast<int>((int64_t{extent} * ratio.out + ratio.in - 1) / ratio.in);
}

// Returns the part of the output `made` (of the input `padded`) that belongs to `seen`.
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
    return {scaled(seen.width, *across), scaled(seen.height, *down)};
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
    : model_(std::move(model)), parameters_(contract.sizes), facts_(contract.model),
      numbers_(contract.input)
{
}

Size PictureFitter::try_size(Size size, ChannelCounts channels)
{
    return probe_size(*model_, size, channels.in, channels.made);
}

// Returns the input's size if the model's file declares width and height.
std::optional<Size> PictureFitter::declared_size() const
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
    if (parameters_.only)
        fit_to_only(fit, *parameters_.only, try_size(*parameters_.only, channels), channels);
    else
        fit_to_rule(fit, channels);
    return fit;
}

Size PictureFitter::target_of(const PictureFit &fit, Size by_default) const
{
    if (parameters_.target)
        return *parameters_.target;
    if (parameters_.scale > 0)
        return {scaled(fit.frame.width, parameters_.scale),
                scaled(fit.frame.height, parameters_.scale)};
    return by_default;
}

void PictureFitter::fit_to_rule(PictureFit &fit, ChannelCounts channels)
{
    fit.padded =
        round_up(larger_of(fit.frame, parameters_.minimum.value_or(Size{1, 1})), multiple());
    if (parameters_.tile && !parameters_.never_tiles() &&
        (parameters_.tile->width < fit.padded.width ||
         parameters_.tile->height < fit.padded.height))
        return fit_in_tiles(fit, channels);
    try {
        const Size made = keep_size(fit, made_of(fit, fit.padded, channels), channels);
        fit.made = cropped(fit.seen, fit.padded, made);
        fit.target = target_of(fit, fit.made);
        if (fit.padded != fit.frame)
            fit.note = note_of_padding(fit);
    } catch (const Error &error) {
        if (error.code() == AVERROR(ENOMEM) && !parameters_.never_tiles()) {
            fit_in_tiles(fit, channels);
            fit.note = concat("the model does not fit into memory at ", to_text(fit.padded),
                              " and runs in tiles");
            return;
        }
        if (error.code() != AVERROR_EXTERNAL)
            throw;
        if (parameters_.multiple || parameters_.minimum)
            throw Error(error.code(), concat(error.what(), untried));
        fit_by_search(fit, channels, error);
    }
}

// Returns the multiple to which a model rounds width and height, if it does.  Tries small pictures
// with the same remainders.
std::optional<int> PictureFitter::multiple_of_rounding(Size padded, Size made,
                                                       ChannelCounts channels)
try {
    constexpr int period = period_of_multiples;
    const auto shorter = [](int extent) {
        return extent < 2 * period ? extent : period + extent % period;
    };
    const Size sample = larger_of({shorter(padded.width), shorter(padded.height)},
                                  parameters_.minimum.value_or(Size{1, 1}));
    const Size small = try_size(sample, channels);
    if (small.width - sample.width != made.width - padded.width ||
        small.height - sample.height != made.height - padded.height)
        return std::nullopt;
    const Size smooth = round_up(sample, period);
    if (try_size(smooth, channels) != smooth)
        return std::nullopt; // it crops borders
    for (const int multiple : {2, 4, 8, 16, 32, 64, 3, 6, 12, 24, 48})
        if (const Size size = round_up(sample, multiple);
            size != sample && try_size(size, channels) == size)
            return multiple;
    return std::nullopt;
} catch (const Error &error) {
    if (!is_refusal(error))
        throw;
    return std::nullopt;
}

// A model that rounds sizes keeps a frame's size if the frame is padded and the result cropped.
// Returns the output's size for `fit.padded`, which this may enlarge.
Size PictureFitter::keep_size(PictureFit &fit, Size made, ChannelCounts channels)
{
    if (!is_nearly(fit.padded, made))
        return made;
    const bool is_found =
        fit.is_tiled ? find_rounding(channels) : find_rounding_of(fit.padded, made, channels);
    const Size size = round_up(fit.padded, multiple());
    if (!is_found || made_of(fit, size, channels) != size) {
        fit.note = concat("the model makes ", to_text(made), " of ", to_text(fit.padded),
                          " and keeps no frame's size");
        return made;
    }
    fit.padded = size;
    return size;
}

// Finds out whether the model rounds sizes.
bool PictureFitter::find_rounding(ChannelCounts channels)
{
    const int odd = period_of_multiples + 1; // each multiple rounds it to a different size
    const Size padded = larger_of({odd, odd}, parameters_.minimum.value_or(Size{1, 1}));
    const Size made = try_size(padded, channels);
    return is_nearly(padded, made) && find_rounding_of(padded, made, channels);
}

bool PictureFitter::find_rounding_of(Size padded, Size made, ChannelCounts channels)
{
    if (parameters_.multiple)
        return false;
    const std::optional<int> found = multiple_of_rounding(padded, made, channels);
    if (!found || found_multiple_ % *found == 0)
        return false;
    found_multiple_ = std::lcm(found_multiple_, *found);
    found_rule_ = concat("multiples of ", found_multiple_, " as they are");
    return true;
}

// Returns the output's size for such a picture, whole or in tiles.
Size PictureFitter::made_of(const PictureFit &fit, Size padded, ChannelCounts channels)
{
    return fit.is_tiled ? try_representative(padded, channels) : try_size(padded, channels);
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
            return made_of(fit, size, channels);
        } catch (const Error &error) {
            if (!is_refusal(error) && error.code() != AVERROR(ENOMEM))
                throw;
            return std::nullopt;
        }
    };
    const std::optional<TakenSize> taken = find_taken_size(fit.frame, declared_size(), try_it);
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
    Fit how = parameters_.fit;
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
        fit.made = {scaled(frame.width, found.across.ratio),
                    scaled(frame.height, found.down.ratio)};
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

// Returns a small size with the same remainders as `padded`, whatever a model divides by.
Size PictureFitter::representative(Size padded) const
{
    constexpr int period = small_extent, least = 2 * period;
    const Size minimum = parameters_.minimum.value_or(Size{1, 1});
    const auto small = [&](int extent, int lowest) {
        const int base = round_up(std::max(least, lowest), std::lcm(period, multiple()));
        return extent < base + period ? extent : base + extent % std::lcm(period, multiple());
    };
    return {small(padded.width, minimum.width), small(padded.height, minimum.height)};
}

// Tries a multiple of 3 as well, because models that divide by 3 show their scale only there.
PictureFitter::Ratios PictureFitter::find_ratios(std::optional<Size> only, ChannelCounts channels)
{
    const Size minimum = parameters_.minimum.value_or(Size{1, 1});
    std::string fault;
    for (const int extent : {2 * small_extent, 3 * small_extent}) {
        const Size size = only.value_or(round_up(larger_of({extent, extent}, minimum), multiple()));
        const Size made = try_size(size, channels);
        const std::optional<Ratio> across = ratio_between(size.width, made.width);
        const std::optional<Ratio> down = ratio_between(size.height, made.height);
        if (across && down)
            return {.across = *across, .down = *down};
        fault = concat("the model makes ", to_text(made), " of ", to_text(size),
                       ", which has no simple scale, and cannot run in tiles; use tile=0");
    }
    throw Error(AVERROR(EINVAL), fault);
}

// Returns the output's size for `padded` without running the model on such a large picture.
Size PictureFitter::try_representative(Size padded, ChannelCounts channels)
{
    const Size sample = representative(padded), made = try_size(sample, channels);
    if (sample == padded)
        return made;
    const Ratios ratios = find_ratios(std::nullopt, channels);
    return {made.width + scaled(padded.width - sample.width, ratios.across),
            made.height + scaled(padded.height - sample.height, ratios.down)};
}

void PictureFitter::fit_in_tiles(PictureFit &fit, ChannelCounts channels)
{
    fit.is_tiled = true;
    try {
        const Size made = keep_size(fit, made_of(fit, fit.padded, channels), channels);
        fit.made = cropped(fit.seen, fit.padded, made);
        fit.target = target_of(fit, fit.made);
    } catch (const Error &error) {
        if (error.code() != AVERROR_EXTERNAL)
            throw;
        if (parameters_.multiple || parameters_.minimum)
            throw Error(error.code(), concat(error.what(), untried));
        fit_by_search(fit, channels, error);
    }
}

} // namespace dnn_torch
