// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What filters share that find things and pass frames unchanged.
#pragma once

#include "filter_table.h"
#include "host/tasks/findings_step.h"
#include "options.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace dnn_torch
{

// A group like those in options.h.
struct ResultsSettings {
    int track; // a Tracking
    int boxes; // an EarlierBoxes
    int masks; // a ShownMasks
    int metadata;
    char *destination;
    int format; // a RecordFormat
};

// The private data of such a filter begins with it.
struct FindingsData {
    CommonData common;
    ResultsSettings results;
};

// Returns the options of how such filters open and run their models, except for those of output
// pictures.  Their fields are at the beginning of the private data.
OptionTable findings_model_options();
// Returns the options of what is done with findings.
OptionTable findings_results_options();

// For init(), before open_filter(): sets what has no option here, and those options that
// backend_configs holds.  Returns an AVERROR if one cannot be set; libavutil has logged why.
int prepare_findings(AVFilterContext *ctx);

// For process_command(): whether the option is changeable and its field is in that part of the
// private data.
bool is_parameter(AVFilterContext *ctx, const char *option, size_t offset, size_t size);

// Sets the option and calls `apply`.  If one of them fails, the option keeps its value.  Returns an
// AVERROR if it cannot be set; libavutil has logged why.  Throws what `apply` throws.
int change_parameter(AVFilterContext *ctx, const char *option, const char *value,
                     const std::function<void()> &apply);

// Returns the step that all tasks of the instance share.  Throws Error.
std::shared_ptr<FindingsStep> open_step(AVFilterContext *ctx);

OptionTable results_options(size_t offset);

// `source` names the origin of boxes in the side data: "dnn_torch_detect: FILE".
FindingsSettings request_of(const FindingsData &data, std::string source);

} // namespace dnn_torch
