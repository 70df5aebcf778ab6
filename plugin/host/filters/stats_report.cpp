// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_report.h"

#include "base/compose.h"
#include "base/json.h"

#include <cstdio>

namespace dnn_torch
{
namespace
{

// Returns an empty text if there is none.
std::string excluded_of(size_t frames)
{
    return frames ? concat("; ", counted(frames, "frame"), " bypassed the model") : "";
}

} // namespace

StatsReport::StatsReport(AVFilterContext *ctx, const std::string &path) : ctx_(ctx), file_(path) {}

std::string StatsReport::json(const RunFacts &facts, const Summary &summary, const char *state,
                              size_t in_flight)
{
    json::Value all = json_of(summary);
    all.update({
        {"excluded", facts.excluded},
        {"state", state},
        {"in_flight", in_flight},
        {"workers", facts.budget.workers},
        {"threads", facts.budget.threads_per_worker},
        {"nireq", facts.budget.in_flight},
        {"batch_size", facts.batch_size},
        {"format", facts.format},
        {"input", to_text(facts.input)},
        {"output", to_text(facts.output)},
        {"form", facts.form},
        {"frames_before", facts.window.before},
        {"frames_after", facts.window.after},
        {"segment_length", facts.segments.length},
        {"in_order", facts.in_order},
        {"model", facts.model},
    });
    return json::line_of(all) + "\n";
}

std::string StatsReport::progress(const Summary &summary, size_t in_flight)
{
    char text[96];
    snprintf(text, sizeof(text), "frames %zu fps %.2f in_flight %zu", summary.frames,
             summary.frames_per_second, in_flight);
    return text;
}

void StatsReport::check(const RunFacts &facts, const Summary &summary, const char *state)
{
    is_writable_ = false;
    file_.check(json(facts, summary, state, 0));
    is_writable_ = true;
}

void StatsReport::finish(const RunFacts &facts, const Summary &summary, const char *state)
{
    if (is_finished_)
        return;
    is_finished_ = true;
    if (facts.budget.workers != 0) // else no frame came
        av_log(ctx_, AV_LOG_INFO, "%s%s\n", to_line(summary).c_str(),
               excluded_of(facts.excluded).c_str());
    if (is_writable_)
        file_.write(json(facts, summary, state, 0));
}

} // namespace dnn_torch
