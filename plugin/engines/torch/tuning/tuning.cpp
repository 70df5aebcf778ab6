// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning.h"

#include "base/compose.h"
#include "calibration.h"
#include "engine_kit/content_hash.h"
#include "engine_kit/tuning_cache.h"
#include "engines/torch/failure.h"
#include "engines/torch/fusing/fuse.h"
#include "engines/torch/machine/processor_quirks.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/machine/run_scope.h"
#include "measure.h"
#include "trial.h"

#include <algorithm>
#include <ATen/Version.h>
#include <cstdio>
#include <torch/version.h>
#include <utility>

namespace engine_torch
{
namespace
{

// Variants that are slower than the fastest by less than this factor count as fast.  The plainest
// of them is taken, so that the choice does not depend on disturbances.
constexpr double as_fast = 1.03;
// A trial with a whole picture may take this share of the budget.  It takes as long as
// this many runs of the variant, because it also runs the plain module.
constexpr double whole_share = 0.5, runs_of_whole = 3;
// No further variant is tried once this share of the budget is spent: what is left is to measure.
constexpr double most_for_trials = 0.5;
// Differences by these factors are reported to the user.
constexpr double much_faster = 1.5, slower = 1.05;

using Kinds = std::vector<VariantKind>;

void add_line(std::string &lines, const std::string &line)
{
    if (!line.empty())
        dnn_torch::add_to_list(lines, line, "; ");
}

std::string with_one_digit(double number)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", number);
    return text;
}

// A hash of LibTorch's build, of the instruction set that it uses, which its environment may
// narrow, and of oneDNN's version: a remembered variant is not tried again.
std::string libraries()
{
    constexpr size_t digits = 16;
    return content_hash(at::show_config()).substr(0, digits);
}

// Returns the settings that all records of a model depend on.
std::string settings_of(const Source &source)
{
    return std::string("engine ") + PROJECT_VERSION + "; LibTorch " + TORCH_VERSION + ' ' +
           libraries() + "; " + source.input_name + "; " + source.device.str() + source.asked.text;
}

// The same for records of how it runs.
std::string run_settings_of(const Source &source)
{
    const std::string binding = source.binding.text();
    return settings_of(source) + (binding.empty() ? "" : "; " + binding);
}

std::string text_of(const Shape &shape)
{
    return std::to_string(shape.batch) + 'x' + std::to_string(shape.channels) + 'x' +
           std::to_string(shape.height) + 'x' + std::to_string(shape.width);
}

std::string range_of(const Shape &shape)
{
    if (shape.low == 0 && shape.high == 1)
        return "";
    return "; " + std::to_string(shape.low) + " to " + std::to_string(shape.high);
}

// What is measured with one clip holds for others, too: calibration is never skipped.
TuningKey key_of(const Source &source, const Requested &requested, const Shape &shape,
                 bool has_samples)
{
    return {
        requested.path, requested.contents,
        run_settings_of(source) + "; " + text_of(shape) + range_of(shape) + "; " +
            (requested.precision.is_automatic ? "auto" : name_of(requested.precision.precision)) +
            "; " + (requested.pinned ? name_of(*requested.pinned) : "fastest") +
            (has_samples && requested.precision.precision == Precision::int8 ? "; with a clip"
                                                                             : "")};
}

// A record with this key exists if the variant is a bad one.
TuningKey key_of_bad(const Variant &variant, const Source &source, const Requested &requested)
{
    return {requested.path, requested.contents,
            run_settings_of(source) + "; wrong: " + variant.text()};
}

// The `variant` of such a record is the extents of the result.
TuningKey key_of_probe(const Source &source, const Requested &requested,
                       const std::string &output_name, const Shape &shape)
{
    return {requested.path, requested.contents,
            settings_of(source) + "; " + output_name + "; made of " + text_of(shape)};
}

std::optional<TuningRecord> recall(TuningCache &cache)
{
    if (auto known = cache.recall_from_process())
        return known;
    auto known = cache.recall_from_folder();
    if (known)
        cache.remember_in_process(*known);
    return known;
}

class Tuner
{
public:
    Tuner(const Source &source, const Requested &requested, const Shape &shape,
          const TuningParameters &parameters)
        : source_(source), requested_(requested), shape_(shape),
          budget_seconds_(parameters.budget_seconds), samples_(parameters.samples),
          cache_(key_of(source, requested, shape, parameters.samples.defined()))
    {
    }

    Tuned as_saved() const { return chosen(plain()); }

    Tuned run()
    {
        if (const auto known = recall(cache_))
            if (auto tuned = tuned_from(*known))
                return *tuned;
        std::vector<TriedVariant> candidates;
        for (Variant &variant : usable_forms())
            candidates.push_back({std::move(variant)});
        return budget_seconds_ > 0 ? measured(candidates) : chosen(candidates.front());
    }

private:
    Trial &trial()
    {
        if (!trial_)
            trial_.emplace(source_, shape_, budget_seconds_);
        return *trial_;
    }

    // precision=auto; other devices than the CPU are fast in fp16.
    bool chooses_fp16() const
    {
        return requested_.precision.is_automatic && !source_.device.is_cpu();
    }

    void note_refused_optimize(const std::string &fault)
    {
        refused_optimize_ = true;
        add_line(notice_, dnn_torch::concat("optimize=", name_of(*requested_.pinned),
                                            " cannot be used: ", fault));
    }

    void note_refused_precision(const std::string &fault)
    {
        refused_precision_ = true;
        add_line(notice_, dnn_torch::concat("precision=", name_of(requested_.precision.precision),
                                            " cannot be used: ", fault));
    }

    // Whether this is what the user requested, or what replaces it because it cannot be used.
    bool is_as_requested(VariantKind kind, const TuningRecord &record) const
    {
        if (requested_.pinned && kind != *requested_.pinned && !record.refused_optimize)
            return false;
        if (record.precision == name_of(requested_.precision.precision))
            return true;
        if (chooses_fp16())
            return record.precision == name_of(Precision::fp16);
        return record.precision == name_of(Precision::fp32) && record.refused_precision;
    }

    // Returns nullopt if the record does not fit this model or what the user requested after all.
    // The variant is not tried again: it was before it was remembered, and the first frame is
    // compared.  But calibration with another clip makes another variant.
    std::optional<Tuned> tuned_from(const TuningRecord &record)
    {
        const auto kind = find_variant(record.variant);
        if (!kind || !is_as_requested(*kind, record))
            return std::nullopt;
        const Precision precision = parse_precision(record.precision).precision;
        const bool is_another = precision == Precision::int8 && samples_.defined();
        auto variant = attempt_if_safe(*kind, precision, is_another).variant;
        if (!variant)
            return std::nullopt;
        if (const auto threaded = find_variant(record.threaded); threaded && variant->threaded)
            set_threaded(attempt_if_safe(*threaded, precision, false).variant, *variant);
        return Tuned{.variant = *variant,
                     .figures = figures_of(*variant, record.run_seconds, record.run_bytes,
                                           record.run_operations),
                     .is_measured = record.is_measured,
                     .notice = record.notice,
                     .hint = record.hint};
    }

    // ---- which variants can be used

    bool is_bad(const Variant &variant) const
    {
        TuningCache cache(key_of_bad(variant, source_, requested_));
        return recall(cache).has_value();
    }

    // A variant that can be used, or why it cannot.
    struct Attempt {
        std::optional<Variant> variant;
        std::string fault;
    };

    Attempt attempt(VariantKind kind, Precision precision, bool try_it = true)
    {
        try {
            Variant variant = make_variant(source_, kind, precision, shape_.channels);
            if (precision == Precision::int8)
                calibrate(variant, source_, shape_, samples_);
            if (kind == VariantKind::fused && precision == Precision::bf16)
                show_pictures(variant, source_, shape_);
            std::string fault = fault_of(variant, try_it);
            if (!fault.empty())
                return {.variant = std::nullopt, .fault = std::move(fault)};
            return {.variant = std::move(variant), .fault = ""};
        } catch (const std::exception &error) {
            if (is_out_of_memory(error))
                throw;
            return {.variant = std::nullopt, .fault = words_of(error)};
        }
    }

    std::string fault_of(const Variant &variant, bool try_it)
    {
        if (variant.kind == VariantKind::saved && variant.precision == Precision::fp32)
            return "";
        if (is_bad(variant))
            return "its results were seen to be wrong";
        if (!try_it)
            return "";
        return trial().empty() ? "the model takes none of the trial pictures"
                               : trial().fault_of(variant);
    }

    // The variants that can be used, and why the last one that cannot was left out.
    struct Variants {
        std::vector<Variant> list;
        std::string fault;
        std::string pin_fault; // why the one that the user asked for was left out
    };

    Variants usable(const Kinds &kinds, Precision precision)
    {
        Variants variants;
        for (const VariantKind kind : by_worth(kinds)) {
            if (!is_sound(kind) || !is_worth_trying(kind, variants.list))
                continue;
            Attempt attempted = attempt(kind, precision);
            if (kind != VariantKind::fused || kinds.size() == 1)
                variants.fault = attempted.fault; // those of LibTorch's own variants say more
            if (attempted.variant)
                variants.list.push_back(std::move(*attempted.variant));
            if (budget_seconds_ <= 0 && !variants.list.empty())
                break;
        }
        return variants;
    }

    // Where oneDNN is not sound, its additions of its own tensors divide by the size of the caches.
    static bool is_sound(VariantKind kind)
    {
        return kind != VariantKind::inference || avoid_unsound_instructions();
    }

    // The budget is for all that is tried and measured.  Without one, nothing is measured and the
    // first variant that can be used is taken.
    double left_seconds() const { return budget_seconds_ - seconds_since(start_); }
    bool has_spent(double share) const
    {
        return budget_seconds_ > 0 && left_seconds() < (1 - share) * budget_seconds_;
    }

    // Whether the trials of all variants would take more than the budget.
    bool is_slow()
    {
        constexpr double share_of_plain_trial = 0.1;
        return budget_seconds_ > 0 &&
               trial().plain_seconds() > share_of_plain_trial * budget_seconds_;
    }

    // If there is no time for all, fused programs come first: most often they win.
    Kinds by_worth(Kinds kinds)
    {
        if (kinds.size() > 1 && is_slow())
            std::stable_partition(kinds.begin(), kinds.end(),
                                  [](VariantKind kind) { return kind == VariantKind::fused; });
        return kinds;
    }

    // Of a slow model, one of LibTorch's own variants is enough: they differ less from each other
    // than from fused programs.
    bool is_worth_trying(VariantKind kind, const std::vector<Variant> &usable)
    {
        if (usable.empty())
            return true;
        if (has_spent(most_for_trials))
            return false;
        const bool has_own = std::any_of(usable.begin(), usable.end(), [](const Variant &variant) {
            return variant.kind != VariantKind::fused;
        });
        return kind == VariantKind::fused || !has_own || !is_slow();
    }

    // Returns the kinds to try.  If nothing is measured, the first one that can be used is taken.
    Kinds kinds() const
    {
        if (!source_.frozen)
            return {};
        if (source_.branches_on_data)
            return {VariantKind::frozen};
        // optimize_for_inference optimises for the CPU.
        if (!source_.device.is_cpu())
            return {VariantKind::channels_last, VariantKind::frozen};
        Kinds all = {VariantKind::inference, VariantKind::frozen};
        if (budget_seconds_ > 0)
            all.push_back(VariantKind::channels_last);
        if (can_fuse() && source_.binding.is_plain())
            all.push_back(VariantKind::fused);
        return all;
    }

    // No trial is sure to see every branch that pictures may take.
    Attempt attempt_if_safe(VariantKind kind, Precision precision, bool try_it = true)
    {
        if (!source_.branches_on_data || kind == VariantKind::saved || kind == VariantKind::frozen)
            return attempt(kind, precision, try_it);
        return {.variant = std::nullopt, .fault = "the model branches on samples of pictures"};
    }

    // Only fused programs compute in int8.
    Variants usable_in_int8()
    {
        if (requested_.pinned && requested_.pinned != VariantKind::fused)
            return {.list = {}, .fault = "only optimize=fused has it", .pin_fault = ""};
        Attempt attempted = attempt_if_safe(VariantKind::fused, Precision::int8);
        Variants variants = {.list = {}, .fault = attempted.fault, .pin_fault = ""};
        if (attempted.variant)
            variants.list.push_back(std::move(*attempted.variant));
        return variants;
    }

    Variants usable_in(Precision precision)
    {
        if (precision == Precision::int8)
            return usable_in_int8();
        if (!requested_.pinned)
            return usable(kinds(), precision);
        Attempt pinned = attempt_if_safe(*requested_.pinned, precision);
        if (pinned.variant)
            return {.list = {std::move(*pinned.variant)}, .fault = "", .pin_fault = ""};
        if (*requested_.pinned == VariantKind::saved)
            return {.list = {}, .fault = pinned.fault, .pin_fault = ""};
        Variants variants = usable(kinds(), precision);
        variants.pin_fault = pinned.fault;
        return variants;
    }

    // Returns at least one variant.
    std::vector<Variant> usable_forms()
    {
        if (chooses_fp16())
            if (Variants halves = usable_in(Precision::fp16); !halves.list.empty()) {
                note_faults(halves);
                return std::move(halves.list);
            }
        Variants variants = usable_in_wanted_precision();
        note_faults(variants);
        if (variants.list.empty())
            variants.list.push_back(plain().variant);
        return std::move(variants.list);
    }

    // Returns fp32 variants if the model takes none of the precision that the user asked for.
    Variants usable_in_wanted_precision()
    {
        const Precision precision = requested_.precision.precision;
        Variants variants = usable_in(precision);
        if (!variants.list.empty() || precision == Precision::fp32)
            return variants;
        std::string fault = variants.fault;
        if (is_half(precision)) {
            Variants saved = usable(Kinds{VariantKind::saved}, precision);
            saved.pin_fault = variants.pin_fault;
            if (!saved.list.empty())
                return saved;
            fault = saved.fault;
        }
        note_refused_precision(fault + "; the model runs in fp32");
        return usable_in(Precision::fp32);
    }

    void note_faults(const Variants &variants)
    {
        if (!variants.pin_fault.empty())
            note_refused_optimize(variants.pin_fault);
        else if (variants.list.empty() && source_.frozen)
            add_line(notice_, "no faster variant of the model can be used: " + variants.fault +
                                  "; it runs as it was saved");
    }

    // ---- which variant is chosen

    int takes_interleaved(const Variant &variant) const
    {
        const bool wants_last = source_.binding.is_plain()
                                    ? variant.kind == VariantKind::channels_last
                                    : ends_with_channels(source_.binding.layout);
        return wants_last && shape_.channels > 1;
    }

    // A frame's integer samples are less data to send than floats.
    int takes_integers() const { return !source_.device.is_cpu(); }

    DnnTorchPlanFacts figures_of(const Variant &variant, double run_seconds, int64_t run_bytes,
                                 double run_operations) const
    {
        return {.size = sizeof(DnnTorchPlanFacts),
                .run_seconds = run_seconds,
                .run_bytes = run_bytes,
                .interleaved = takes_interleaved(variant),
                .takes_integers = takes_integers(),
                .in_order = 0,
                .run_operations = run_operations};
    }

    Tuned chosen(const TriedVariant &candidate) const
    {
        return {.variant = candidate.variant,
                .figures = figures_of(candidate.variant, candidate.seconds, candidate.bytes,
                                      candidate.operations),
                .is_measured = false,
                .notice = notice_,
                .hint = ""};
    }

    // Adds variants that cannot win, but that the user should know of.
    void add_others(std::vector<TriedVariant> &candidates)
    {
        if (!source_.device.is_cpu() || source_.branches_on_data || is_slow() ||
            has_spent(most_for_trials))
            return;
        const Precision used = candidates.front().variant.precision;
        Kinds others;
        Precision precision = Precision::fp32;
        if (used != Precision::fp32) {
            others = {VariantKind::inference, VariantKind::channels_last, VariantKind::fused};
        } else if (requested_.precision.is_automatic && requested_.pinned != VariantKind::saved &&
                   computes_bf16_fast()) {
            others = {VariantKind::channels_last, VariantKind::fused};
            precision = Precision::bf16;
        }
        if (source_.frozen)
            for (Variant &variant : usable(others, precision).list)
                candidates.push_back({std::move(variant), false});
    }

    Tuned measured(std::vector<TriedVariant> &candidates)
    {
        add_others(candidates);
        if (!can_be_measured(candidates))
            return guessed(candidates.front());
        const Compared compared = measure_all(candidates, left_seconds());
        if (compared == Compared::not_at_all)
            return chosen(candidates.front());
        const TriedVariant *winner = fastest(candidates, true);
        while (winner && compared == Compared::with_parts && fails_whole(*winner)) {
            candidates.erase(candidates.begin() + (winner - candidates.data()));
            winner = fastest(candidates, true);
        }
        if (!winner) {
            note_none_is_right();
            return chosen(plain());
        }
        Tuned tuned = chosen(*winner);
        tuned.is_measured = true;
        choose_threaded(candidates, tuned.variant);
        if (const TriedVariant *other = fastest(candidates, false))
            compare(*winner, *other, tuned);
        const bool depends_on_clip =
            samples_.defined() && tuned.variant.precision != requested_.precision.precision;
        if (!depends_on_clip)
            remember(tuned);
        return tuned;
    }

    static void set_threaded(const std::optional<Variant> &other, Variant &variant)
    {
        if (other)
            variant.threaded = std::make_shared<const Variant>(*other);
    }

    // A model with states has one worker with all cores, so that fused programs seldom run.
    void choose_threaded(std::vector<TriedVariant> candidates, Variant &variant) const
    {
        if (!source_.has_states() || !variant.threaded)
            return;
        std::erase_if(candidates, [](const TriedVariant &each) {
            return each.variant.kind == VariantKind::fused;
        });
        if (const TriedVariant *other = fastest(candidates, true))
            set_threaded(other->variant, variant);
    }

    // Whether there is time for a run of each on the smallest part that is measured.
    bool can_be_measured(const std::vector<TriedVariant> &candidates)
    {
        constexpr double smallest_part = 64.0 * 64;
        const double run = seconds_for(std::min(smallest_part, pixels_of(shape_)));
        return static_cast<double>(candidates.size()) * run <= left_seconds();
    }

    // For the plain module.
    double seconds_for(double pixels) { return trial().plain_seconds_of_pixel() * pixels; }

    // Takes the variant that was tried first.  One run of it on a small part shows what a frame
    // takes.  This is remembered, because the next start has no more time.
    Tuned guessed(const TriedVariant &candidate)
    {
        std::vector<TriedVariant> alone = {candidate};
        measure_all(alone, 0);
        Tuned tuned = chosen(alone.front());
        if (tuned.figures.run_seconds > 0 && !samples_.defined())
            remember(tuned);
        return tuned;
    }

    void remember(const Tuned &tuned)
    {
        cache_.remember({.variant = name_of(tuned.variant.kind),
                         .precision = name_of(tuned.variant.precision),
                         .run_seconds = tuned.figures.run_seconds,
                         .run_bytes = tuned.figures.run_bytes,
                         .notice = tuned.notice,
                         .hint = tuned.hint,
                         .run_operations = tuned.figures.run_operations,
                         .is_measured = tuned.is_measured,
                         .refused_optimize = refused_optimize_,
                         .refused_precision = refused_precision_,
                         .threaded = source_.has_states() && tuned.variant.threaded
                                         ? name_of(tuned.variant.threaded->kind)
                                         : ""});
    }

    void note_none_is_right()
    {
        if (requested_.precision.precision != Precision::fp32)
            note_refused_precision("its results are wrong for pictures of this size; the model "
                                   "runs in fp32, as it was saved");
    }

    // Tries the winner with a picture of the whole size.  A model that is too slow for that is
    // compared at its first frame, as every model is.
    bool fails_whole(const TriedVariant &winner)
    {
        if (winner.seconds * runs_of_whole >
            std::min(left_seconds(), budget_seconds_ * whole_share))
            return false;
        trial_with_whole();
        return !trial().fault_of(winner.variant).empty();
    }

    void trial_with_whole()
    {
        if (!is_enlarged_)
            trial().enlarge(shape_);
        is_enlarged_ = true;
    }

    TriedVariant plain() const
    {
        return {make_variant(source_, VariantKind::saved, Precision::fp32, shape_.channels)};
    }

    // If the model refuses the picture, that is reported when it runs.
    Compared measure_all(std::vector<TriedVariant> &candidates, double budget_seconds)
    {
        try {
            return measure(candidates, source_, shape_, budget_seconds);
        } catch (const std::exception &error) {
            if (is_out_of_memory(error))
                throw;
            return Compared::not_at_all;
        }
    }

    static const TriedVariant *fastest(const std::vector<TriedVariant> &candidates, bool may_win)
    {
        const auto counts = [may_win](const TriedVariant &candidate) {
            return candidate.may_win == may_win && candidate.is_compared;
        };
        const TriedVariant *best = nullptr;
        for (const TriedVariant &candidate : candidates)
            if (counts(candidate) && (!best || candidate.seconds < best->seconds))
                best = &candidate;
        if (!best)
            return nullptr;
        const double enough = best->seconds * as_fast;
        for (const TriedVariant &candidate : candidates)
            if (counts(candidate) && candidate.seconds <= enough &&
                candidate.variant.kind < best->variant.kind)
                best = &candidate;
        return best;
    }

    static void compare(const TriedVariant &winner, const TriedVariant &other, Tuned &tuned)
    {
        const double factor = winner.seconds / other.seconds;
        const std::string option =
            std::string("precision=") +
            name_of(std::max(winner.variant.precision, other.variant.precision));
        if (winner.variant.precision == Precision::fp32 && factor >= much_faster)
            tuned.hint = option + " would be " + with_one_digit(factor) + " times as fast, at " +
                         with_one_digit(other.decibel) + " dB to fp32";
        if (winner.variant.precision != Precision::fp32 && factor >= slower)
            add_line(tuned.notice,
                     option + " takes " + with_one_digit(factor) + " times as long as fp32 here");
    }

    const Source &source_;
    const Requested &requested_;
    const Shape shape_;
    const double budget_seconds_;
    const Clock::time_point start_ = Clock::now();
    const at::Tensor samples_; // to calibrate int8 with
    TuningCache cache_;
    std::optional<Trial> trial_;
    bool is_enlarged_ = false;
    std::string notice_;
    bool refused_optimize_ = false, refused_precision_ = false;
};

} // namespace

std::optional<VariantKind> parse_optimize(const std::string &text)
{
    if (text.empty() || text == "1")
        return std::nullopt;
    if (text == "0")
        return VariantKind::saved;
    if (const auto kind = find_variant(text))
        return kind;
    throw Failure(DNN_TORCH_BAD_OPTION,
                  "optimize=" + text + " is unknown; choose among " + optimize_values());
}

std::string optimize_values()
{
    return "0, 1, " + variant_names();
}

Tuned tune(const Source &source, const Requested &requested, const Shape &shape,
           const TuningParameters &parameters)
{
    // Warnings about variants that may be dropped are not for the user.
    const Quiet quiet;
    const ThreadsScope one_thread(1);
    Tuner tuner(source, requested, shape, parameters);
    return parameters.as_saved ? tuner.as_saved() : tuner.run();
}

void remember_as_bad(const Variant &variant, const Source &source, const Requested &requested)
{
    TuningCache(key_of_bad(variant, source, requested))
        .remember({name_of(variant.kind), name_of(variant.precision), 0, 0, "", "", 0});
}

std::optional<Probed> recall_probe(const Source &source, const Requested &requested,
                                   const std::string &output_name, const Shape &shape)
{
    TuningCache cache(key_of_probe(source, requested, output_name, shape));
    const auto known = recall(cache);
    Shape result = {};
    char rest = 0;
    const int found = known ? std::sscanf(known->variant.c_str(), "%dx%dx%dx%d%c", &result.batch,
                                          &result.channels, &result.height, &result.width, &rest)
                            : 0;
    const bool makes_sense = found == 4 && result.batch == shape.batch && result.channels > 0 &&
                             result.height > 0 && result.width > 0;
    return makes_sense ? std::optional<Probed>({.result = result, .binding = known->notice})
                       : std::nullopt;
}

void remember_probe(const Source &source, const Requested &requested,
                    const std::string &output_name, const Shape &shape, const Probed &probed)
{
    TuningCache(key_of_probe(source, requested, output_name, shape))
        .remember({text_of(probed.result), name_of(Precision::fp32), 0, 0, probed.binding, "", 0});
}

} // namespace engine_torch
