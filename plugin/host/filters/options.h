// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of our filters, in groups.  A filter's table is composed of its groups.
#pragma once

#include "continuity.h"
#include "deadlines.h"
#include "host/frames/stencil.h"
#include "host/model/model_request.h"
#include "host/workers/core_budget.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// libavutil sets the fields of a group in memory that libavfilter zeroes and frees, so the groups
// are plain structs.  Only a group's table has defaults and limits.

// Which model, and what its numbers mean.
struct ModelSettings {
    char *texts[std::size(model_option_rows)]; // in the order of the rows
    int64_t timeout;                           // microseconds
    int watch;
    int isolate; // an Isolation
};

enum class Goal { throughput, latency };

// How many frames are processed at once, by how many threads, and what is recorded of it.
struct RunSettings {
    int async, nireq, batch_size, workers, threads;
    int goal; // a Goal
    float strength;
    int64_t tune; // microseconds
    char *stats, *on_crash, *cuts;
    float jump;
    int gaps;
    int64_t start_number;
    int64_t deadline; // microseconds
    int late;         // a Late
    int every;        // 0: chosen
    int hides;        // no option: a frame is hidden unless the model has seen it
    int hide_with;    // a Hiding
};

// Options for compatibility with command lines of dnn_processing.
struct BackendSettings {
    int backend;
    char *configs, *options; // two names of one option
};

// The settings of every filter that runs a model.
struct FilterSettings {
    ModelSettings model;
    RunSettings run;
};

// Returns the model settings as a value, which commands change.
ModelRequest request_of(const ModelSettings &settings);

// Where the stream starts anew.  Throws Error if cuts is invalid.
ContinuitySettings continuity_of(const RunSettings &settings);

// When frames have to leave.  Sets `hides` if late=hide says so.  Throws Error if the settings
// contradict each other.
DeadlineSettings deadline_of(RunSettings &settings);

// The run settings as a value that any thread may read.
struct RunRequest {
    CoreRequest cores;
    size_t batch_size = 1;
    double tuning_seconds = 0;
    bool has_deadline = false, hides = false;
    bool for_latency = false; // goal=latency
    int restarts = 0; // of the model's process; above 0, frames that crash it pass unchanged
};

// Throws Error if on_crash is invalid.
RunRequest request_of(const RunSettings &settings);

using OptionTable = std::vector<AVOption>;

// Return the options of a group that is `offset` bytes into the filter's private data.
OptionTable model_options(size_t offset);
OptionTable run_options(size_t offset);
OptionTable backend_options(size_t offset);

// Return the group without the options in `names`, or without those only for filters that output
// pictures.
OptionTable without(OptionTable group, std::initializer_list<std::string_view> names);
OptionTable without_picture_options(OptionTable group);

// Returns one table with libavutil's end mark.  Its options are in the order of `names`, in which
// users may give them without their names; any others follow.
OptionTable compose(std::initializer_list<OptionTable> groups,
                    std::initializer_list<std::string_view> names);

// Sets the options in backend_configs.  `data` is the filter's private data.  Logs why if it
// returns an AVERROR.
int apply_backend_configs(void *data, const BackendSettings &backend);

} // namespace dnn_torch
