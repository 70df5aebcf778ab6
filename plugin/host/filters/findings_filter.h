// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What filters have in common that find things and pass frames unchanged.
#pragma once

#include "filter_table.h"
#include "host/tasks/findings_step.h"
#include "results_options.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace dnn_torch
{

// The private data of such a filter begin with it.
struct FindingsData {
    CommonData common;
    ResultsSettings results;
};

// Returns the options of how such filters get and run their models, at the beginning of the private
// data.  Those that say what becomes of a picture are not among them.
OptionTable findings_model_options();
// Returns what becomes of what is found.
OptionTable findings_results_options();

// For init(), before open_filter(): sets what has no option here, and those options that
// backend_configs holds.  Returns an AVERROR if one cannot be set; libavutil has logged why.
int prepare_findings(AVFilterContext *ctx);

// For process_command(): whether the option is changeable and lies in that part of the private
// data.
bool is_term(AVFilterContext *ctx, const char *option, size_t offset, size_t size);

// Sets the option and calls `apply`.  If one of them fails, the option keeps its value.  Returns an
// AVERROR if it cannot be set; libavutil has logged why.  Throws what `apply` throws.
int change_term(AVFilterContext *ctx, const char *option, const char *value,
                const std::function<void()> &apply);

// Returns the step that all tasks of the instance share.  Throws Error.
std::shared_ptr<FindingsStep> open_step(AVFilterContext *ctx);

} // namespace dnn_torch
