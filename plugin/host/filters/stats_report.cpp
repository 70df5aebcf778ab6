// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_report.h"

#include "../pipeline/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace dnn_torch {
namespace {

struct FileCloser {
    void operator()(FILE *file) const { fclose(file); }
};
using FilePointer = std::unique_ptr<FILE, FileCloser>;

class Object
{
public:
    explicit Object(const std::string &members) : text_(members) {}

    void add(const char *name, size_t value) { add_text(name, std::to_string(value)); }
    void add(const char *name, const std::string &value) { add_text(name, json_string(value)); }
    std::string text() const { return "{" + text_ + "}\n"; }

private:
    void add_text(const char *name, const std::string &value)
    {
        text_ += ", \"";
        text_ += name;
        text_ += "\": ";
        text_ += value;
    }

    std::string text_;
};

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
    Object object(to_json(summary));
    object.add("state", std::string(state));
    object.add("in_flight", in_flight);
    object.add("workers", facts.budget.workers);
    object.add("threads", facts.budget.threads_per_worker);
    object.add("nireq", facts.budget.in_flight);
    object.add("batch_size", facts.batch_size);
    object.add("format", facts.format);
    object.add("input", to_text(facts.input));
    object.add("output", to_text(facts.output));
    object.add("form", facts.form);
    object.add("model", facts.model);
    return object.text();
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
