// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Formats a filter's statistics for the log, a file and a command.
#pragma once

#include "host/size.h"
#include "host/tasks/task.h"
#include "host/workers/core_budget.h"
#include "host/workers/statistics.h"
#include "stats_file.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

#include <string>

namespace dnn_torch
{

// How a filter runs, printed with its statistics.
struct RunFacts {
    std::string model, form;
    CoreBudget budget;
    size_t batch_size;
    std::string format;
    Size input, output;
    Window window = {}; // the neighbours that the model gets with each frame
    Segments segments = {};
    bool in_order = false; // the model remembers earlier frames
    size_t excluded = 0;   // frames that bypassed the model, as the user wanted
};

// Belongs to the filter's thread.
class StatsReport
{
public:
    // `path` is the file to write at the end, or empty.  Throws Error if it cannot be written.
    StatsReport(AVFilterContext *ctx, const std::string &path);

    // Returns one JSON object on one line.
    static std::string json(const RunFacts &facts, const Summary &summary, const char *state,
                            size_t in_flight);
    // Returns "frames 12 fps 3.40 in_flight 2".
    static std::string progress(const Summary &summary, size_t in_flight);

    // Logs the line and writes the file.  Does nothing from the second call on.  Throws Error if
    // the file cannot be written.
    void finish(const RunFacts &facts, const Summary &summary, const char *state);
    // Throws Error if the file could not be written.
    void check(const RunFacts &facts, const Summary &summary, const char *state);

private:
    AVFilterContext *ctx_;
    StatsFile file_;
    bool is_finished_ = false;
    bool is_writable_ = true; // as far as check() knows
};

} // namespace dnn_torch
