// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fitting.h"

#include "base/compose.h"
#include "base/json.h"
#include "frame_rate.h"
#include "host/model/contract_fields.h"
#include "host/probing/model_trial.h"
#include "host/workers/statistics.h"
#include "probed_contract.h"

#include <chrono>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr const char *not_tried = "not tried: the model is slow";

bool is_known(const std::string &field, const Contract &contract)
{
    return contract.origins.count(field) != 0;
}

std::string with_origin(const std::string &text, const std::string &origin)
{
    return concat(text, " (", origin, ")");
}

// Returns the contract's rule, or else one that was found.
std::string rule_in_words(const Fitting &fitting, const Contract &contract)
{
    std::string words;
    const SizeParameters &parameters = contract.sizes;
    if (parameters.multiple)
        words = with_origin(concat("multiples of ", *parameters.multiple),
                            origin_of("input.multiple", contract));
    if (parameters.minimum)
        add_to_list(words, with_origin(concat("at least ", to_text(*parameters.minimum)),
                                       origin_of("input.minimum", contract)));
    if (words.empty() && !fitting.rule.empty())
        words = with_origin(fitting.rule, "probe");
    return words;
}

std::string origin_of_only(const Contract &contract)
{
    return is_known("input.size", contract) ? origin_of("input.size", contract) : "probe";
}

bool is_declared_global(const Contract &contract)
{
    return contract.model.tiling == Tiling::global;
}

std::string origin_of_locality(const Fitting &fitting, const Contract &contract)
{
    if (contract.sizes.overlap)
        return "option";
    if (!fitting.nonlocal_operator.empty())
        return concat("its code: ", fitting.nonlocal_operator);
    return is_declared_global(contract) ? origin_of("tiling", contract) : "probe";
}

std::string steps_in_words(const Locality &locality, const Contract &contract)
{
    const std::string words =
        concat("begin at multiples of ", locality.across.step, "x", locality.down.step);
    return is_known("alignment", contract) ? with_origin(words, origin_of("alignment", contract))
                                           : words;
}

// Returns whether measuring the reach, which takes dozens of runs, would take too long.  A model of
// one size never does, because the fit has already measured it.
bool is_slow(Model &model, const Fitting &fitting, const Trials &trials)
{
    constexpr double most_seconds = 0.5;
    if (!fitting.fit || fitting.fit->only)
        return false;
    const Clock::time_point start = Clock::now();
    probe_picture(model, fitting.fit->padded, trials.input_channels);
    return seconds_since(start) > most_seconds;
}

void find_locality(PictureFitter &fitter, ChannelCounts channels, Fitting &fitting)
{
    try {
        fitting.locality =
            fitter.locality(fitting.fit ? fitting.fit->only : std::nullopt, channels);
        fitting.nonlocal_operator = fitter.nonlocal_operator();
    } catch (const Error &error) {
        fitting.why_unknown = concat("none: ", error.what());
    }
}

json::Value pair_of(int width, int height)
{
    return {{"width", width}, {"height", height}};
}

json::Value fact(json::Value value, const std::string &origin)
{
    return {{"value", std::move(value)}, {"origin", origin}};
}

} // namespace

Fitting find_fitting(const ModelWithContract &subject, const Trials &trials)
{
    constexpr Size odd = {2 * small_extent + 5, 2 * small_extent + 3};
    Fitting fitting;
    if (!trials.sizes.complete) {
        fitting.obstacle = fitting.why_unknown = not_tried;
        return fitting;
    }
    Contract contract = subject.contract;
    set_ranges_of_types(subject.model->metadata("input_type"),
                        subject.model->metadata("output_type"), contract);
    PictureFitter fitter(subject.model, contract);
    const ChannelCounts channels = {.in = trials.input_channels, .made = trials.output_channels};
    try {
        fitting.fit = fitter.fit(odd, channels);
        fitting.multiple = fitter.multiple();
        fitting.rule = fitter.found_rule();
        if (contract.as == As::picture)
            fitting.range = range_warning_on(
                *subject.model, fitter.trial_parameters(fitting.fit->only, channels), contract);
    } catch (const Error &error) {
        fitting.obstacle = concat("not possible: ", error.what());
    }
    if (is_slow(*subject.model, fitting, trials))
        fitting.why_unknown = not_tried;
    else
        find_locality(fitter, channels, fitting);
    return fitting;
}

std::string padding_in_words(const Fitting &fitting, const Contract &contract)
{
    if (!fitting.fit)
        return fitting.obstacle;
    if (fitting.fit->only)
        return with_origin(fitting.fit->note.empty()
                               ? concat("the model takes ", to_text(*fitting.fit->only), " alone")
                               : fitting.fit->note,
                           origin_of_only(contract));
    const std::string rule = rule_in_words(fitting, contract);
    if (rule.empty())
        return "none, for any size";
    const bool repeats = contract.sizes.padding == Padding::replicate;
    return concat(
        "to ", rule, ", by ",
        with_origin(repeats ? "replication" : "reflection", origin_of("input.padding", contract)));
}

std::string tiles_in_words(const Fitting &fitting, const Contract &contract)
{
    if (contract.sizes.never_tiles())
        return with_origin("never", "option");
    if (!fitting.locality)
        return fitting.why_unknown;
    const Locality &found = *fitting.locality;
    const std::string origin = origin_of_locality(fitting, contract);
    if (contract.sizes.overlap)
        return concat(with_origin(concat("overlap by ", *contract.sizes.overlap), origin),
                      ", and are blended");
    if (!found.is_local())
        return concat(with_origin("not local", origin), ": tiles are blended");
    return concat(with_origin("local", origin), ": the model looks ", found.across.reach, "x",
                  found.down.reach, " pixels far, by which tiles overlap; they ",
                  steps_in_words(found, contract));
}

json::Value padding_as_json(const Fitting &fitting, const Contract &contract)
{
    json::Value multiple, minimum, only;
    const SizeParameters &parameters = contract.sizes;
    if (parameters.multiple || fitting.multiple > 1)
        multiple = fact(parameters.multiple.value_or(fitting.multiple),
                        parameters.multiple ? origin_of("input.multiple", contract) : "probe");
    if (parameters.minimum)
        minimum = fact(pair_of(parameters.minimum->width, parameters.minimum->height),
                       origin_of("input.minimum", contract));
    if (fitting.fit && fitting.fit->only)
        only = fact(pair_of(fitting.fit->only->width, fitting.fit->only->height),
                    origin_of_only(contract));
    return {{"possible", fitting.fit.has_value()},
            {"multiple", multiple},
            {"minimum", minimum},
            {"only", only},
            {"rule", json::text_or_null(fitting.rule)},
            {"words", padding_in_words(fitting, contract)}};
}

json::Value tiles_as_json(const Fitting &fitting, const Contract &contract)
{
    json::Value local, reach, step;
    if (const std::optional<Locality> &found = fitting.locality) {
        local = fact(found->is_local(), origin_of_locality(fitting, contract));
        if (found->is_local())
            reach = pair_of(found->across.reach, found->down.reach);
        step = pair_of(found->across.step, found->down.step);
    }
    return {{"local", local},
            {"reach", reach},
            {"step", step},
            {"words", tiles_in_words(fitting, contract)}};
}

} // namespace dnn_torch
