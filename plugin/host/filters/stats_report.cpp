// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_report.h"

#include "host/error.h"

#include <cstdio>

namespace dnn_torch
{
namespace
{

json::Value number(size_t value)
{
    return json::number(static_cast<long long>(value));
}

} // namespace

StatsReport::StatsReport(AVFilterContext *ctx, const std::string &path) : ctx_(ctx), file_(path) {}

std::string StatsReport::json(const RunFacts &facts, const Summary &summary, const char *state,
                              size_t in_flight)
{
    json::Members members = to_json(summary);
    const json::Members run = {
        {"state", json::string(state)},
        {"in_flight", number(in_flight)},
        {"workers", number(facts.budget.workers)},
        {"threads", number(facts.budget.threads_per_worker)},
        {"nireq", number(facts.budget.in_flight)},
        {"batch_size", number(facts.batch_size)},
        {"format", json::string(facts.format)},
        {"input", json::string(to_text(facts.input))},
        {"output", json::string(to_text(facts.output))},
        {"form", json::string(facts.form)},
        {"model", json::string(facts.model)},
    };
    members.insert(members.end(), run.begin(), run.end());
    return json::object(members).text + "\n";
}

std::string StatsReport::progress(const Summary &summary, size_t in_flight)
{
    char text[96];
    snprintf(text, sizeof(text), "frames %zu fps %.2f in_flight %zu", summary.frames,
             summary.frames_per_second, in_flight);
    return text;
}

void StatsReport::tell(const RunFacts &facts, const Summary &summary, const char *state)
{
    if (told_)
        return;
    told_ = true;
    av_log(ctx_, AV_LOG_INFO, "%s\n", to_line(summary).c_str());
    try {
        file_.write(json(facts, summary, state, 0));
    } catch (const Error &error) {
        av_log(ctx_, AV_LOG_WARNING, "%s\n", error.what());
    }
}

} // namespace dnn_torch
