// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_report.h"

#include "../pipeline/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace dnn_torch
{
namespace
{

struct FileCloser {
    void operator()(FILE *file) const { fclose(file); }
};
using FilePointer = std::unique_ptr<FILE, FileCloser>;

json::Value number(size_t value)
{
    return json::number(static_cast<long long>(value));
}

} // namespace

// A user who mistyped the path must learn it before the hours of work, not after.
StatsReport::StatsReport(AVFilterContext *ctx, const std::string &path) : ctx_(ctx), path_(path)
{
    if (path_.empty())
        return;
    FilePointer file(fopen(path_.c_str(), "ae"));
    if (!file)
        throw Error(AVERROR(errno), "stats=" + path_ + " cannot be written: " + strerror(errno) +
                                        "; name a file in a folder that you may write to");
}

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
    if (!path_.empty())
        write(json(facts, summary, state, 0));
}

void StatsReport::write(const std::string &text)
{
    FilePointer file(fopen(path_.c_str(), "we"));
    bool written = file && fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                   fflush(file.get()) == 0;
    if (!written)
        av_log(ctx_, AV_LOG_WARNING, "stats=%s cannot be written: %s\n", path_.c_str(),
               strerror(errno));
}

} // namespace dnn_torch
