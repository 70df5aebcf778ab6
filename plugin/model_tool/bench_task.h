// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Creates what bench measures: the task of the filter that a model is for.
#pragma once

#include "command_line.h"
#include "host/tasks/task.h"
#include "kind.h"
#include "subject.h"

#include <memory>
#include <string>

namespace dnn_torch
{

// The model to measure, and how to open it.
struct BenchModel {
    Kind kind = Kind::picture;
    ModelWithContract in_fp32;
    Channels channels = Channels::rgb; // of the frames
    std::optional<FoundSizes> sizes;   // of a model of pictures: the sizes that it takes
};

// Opens the model and finds out which filter it is for.  Throws Error.
BenchModel open_for_bench(const Backend &backend, const Request &request);

// Opens a model of that kind.  Throws Error.
ModelWithContract open_as_kind(const Backend &backend, const Request &request, Kind kind,
                               const std::string &precision);

// Returns the task with the filter's default options, after its examine().  Throws Error.
std::unique_ptr<Task> task_for(const Request &request, Kind kind, const ModelWithContract &subject);

// Returns "dnn_torch_detect".
std::string filter_for(Kind kind);

// Returns a command line that uses the model with these options.
std::string command_for(const Request &request, Kind kind, Channels channels,
                        const FilterOptions &options);

} // namespace dnn_torch
