// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// With --json it prints one object, at the end.
//
//   model, device, size (width, height), result: the size of results, cores, seconds, notice
//   notes         how frames are adapted to the model: padding, tiles
//   rows          precision, workers, threads, fps, form (the model's variant),
//                 chosen (whether the setting is the filter's own choice)
//   left_out      what was not measured, in words
//   best, best_fp32   a row with its `command`; null if nothing was measured
//   filter        that the model is for
//   error         null; if nothing could be measured, the reason: then only model and error exist
#include "bench_report.h"

#include "base/compose.h"
#include "base/json.h"
#include "base/terminal.h"
#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace dnn_torch
{
namespace
{

json::Value json_of(const Rate &rate)
{
    return {{"precision", rate.precision},     {"workers", rate.setting.workers},
            {"threads", rate.setting.threads}, {"fps", json::rounded(rate.frames_per_second, 4)},
            {"form", rate.variant.words},      {"chosen", rate.chosen}};
}

std::string place_of(const BenchFacts &facts)
{
    return facts.device == "cpu" ? counted(facts.cores, "core") : facts.device;
}

std::string label_of(const Rate &rate)
{
    std::string text = name_of(rate.variant);
    if (rate.variant.precision.empty())
        text = rate.precision + (text.empty() ? "" : ", " + text);
    text +=
        ", " + std::to_string(rate.setting.workers) + " x " + std::to_string(rate.setting.threads);
    return rate.tile.empty() ? text : text + ", tile=" + rate.tile;
}

} // namespace

void print_failure(const std::string &model, const std::string &error)
{
    const json::Value all = {{"model", model}, {"error", error}};
    printf("%s\n", json::line_of(all).c_str());
    fflush(stdout);
}

std::string name_of(const Variant &variant)
{
    if (variant.precision.empty() || variant.optimize.empty())
        return variant.words;
    return variant.precision + ", " + (variant.optimize == "saved" ? "as saved" : variant.optimize);
}

void BenchReport::begin(const BenchFacts &facts)
{
    facts_ = facts;
    show_progress("");
    if (as_json_)
        return;
    printf("%s in %s at %s, %s, on %s; takes about %.0f s at most\n",
           printable(facts.model).c_str(), facts.filter.c_str(), to_text(facts.size).c_str(),
           facts.format.c_str(), place_of(facts).c_str(), facts.seconds);
    if (!facts.notice.empty())
        printf("%s\n", facts.notice.c_str());
    for (const std::string &note : facts.notes)
        printf("%s\n", note.c_str());
    printf("\n%-11s%-9s%-9s%s\n", "precision", "workers", "threads", "frames/s");
    fflush(stdout);
}

void BenchReport::add(const Rate &rate)
{
    rates_.push_back(rate);
    show_progress("");
    if (as_json_)
        return;
    const std::string details = rate.chosen ? "the filter's own choice" : rate.variant.details;
    printf("%-11s%-9zu%-9zu%8.2f%s%s\n", rate.precision.c_str(), rate.setting.workers,
           rate.setting.threads, rate.frames_per_second, details.empty() ? "" : "   ",
           details.c_str());
    fflush(stdout);
}

// Returns the first rate that is hardly slower than the fastest.  The filter's own choice comes
// first, and fp32 before less precise formats.
const Rate *BenchReport::best(const std::string &precision) const
{
    constexpr double as_fast = 0.97;
    auto counts = [&](const Rate &rate) {
        return precision.empty() || rate.precision == precision;
    };
    double most = 0;
    for (const Rate &rate : rates_)
        if (counts(rate))
            most = std::max(most, rate.frames_per_second);
    for (const Rate &rate : rates_)
        if (counts(rate) && rate.frames_per_second >= as_fast * most)
            return &rate;
    return nullptr;
}

void BenchReport::print_best(const char *what, const Rate &rate) const
{
    printf("\n%s, %.2f frames/s:\n  %s\n", what, rate.frames_per_second, command_(rate).c_str());
}

std::vector<Bar> BenchReport::bars() const
{
    std::vector<Bar> bars;
    for (const std::vector<Rate> *rates : {&rates_, &compared_})
        for (const Rate &rate : *rates)
            bars.push_back({.label = label_of(rate),
                            .frames_per_second = rate.frames_per_second,
                            .is_chosen = rate.chosen});
    return bars;
}

void BenchReport::print_bars() const
{
    if (!rates_.empty())
        printf("\nform, workers x threads:\n%s", bars_as_text(bars(), place_of_output()).c_str());
}

BarChart BenchReport::chart() const
{
    BarChart chart = {.title = facts_.model,
                      .subtitle = to_text(facts_.size) + ", " + facts_.format + ", on " +
                                  place_of(facts_) + "; form, workers x threads",
                      .bars = bars(),
                      .footnotes = facts_.notes};
    const auto chosen =
        std::find_if(rates_.begin(), rates_.end(), [](const Rate &rate) { return rate.chosen; });
    if (chosen != rates_.end())
        chart.footnotes.push_back("the filter's own choice: " + label_of(*chosen));
    for (const std::string &text : left_out_)
        chart.footnotes.push_back("left out: " + text);
    return chart;
}

void BenchReport::end() const
{
    show_progress("");
    if (as_json_)
        return print_json();
    print_bars();
    if (!left_out_.empty())
        printf("\nleft out:\n");
    for (const std::string &text : left_out_)
        printf("  %s\n", text.c_str());
    const Rate *any = best(""), *fp32 = best("fp32");
    if (any)
        print_best("fastest", *any);
    if (fp32 && fp32 != any)
        print_best("fastest in fp32", *fp32);
}

void BenchReport::print_json() const
{
    json::Value rows = json::Value::array();
    for (const Rate &rate : rates_)
        rows.push_back(json_of(rate));
    auto with_command = [&](const Rate *rate) {
        json::Value row;
        if (rate) {
            row = json_of(*rate);
            row["command"] = command_(*rate);
        }
        return row;
    };
    json::Value all = {
        {"model", facts_.model},
        {"filter", facts_.filter},
        {"error", json::Value()},
        {"device", facts_.device},
        {"size", {{"width", facts_.size.width}, {"height", facts_.size.height}}},
        {"result", {{"width", facts_.result.width}, {"height", facts_.result.height}}},
        {"notes", facts_.notes},
        {"cores", facts_.cores},
        {"seconds", facts_.seconds},
        {"notice", json::text_or_null(facts_.notice)},
        {"rows", rows},
        {"left_out", left_out_},
        {"best", with_command(best(""))},
        {"best_fp32", with_command(best("fp32"))}};
    printf("%s\n", json::line_of(all).c_str());
}

} // namespace dnn_torch
