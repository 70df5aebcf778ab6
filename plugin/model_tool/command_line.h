// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Builds the command line to use a model with, quoted for each program that reads it.
#pragma once

#include "find_sizes.h"
#include "host/probing/model_probe.h"

#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// Names and values.
using FilterOptions = std::vector<std::pair<std::string, std::string>>;

// Quotes a text for a shell if necessary.
std::string shell_quoted(const std::string &text);

// Quotes the value of an option within a filter graph, which libavfilter unquotes twice.
std::string graph_quoted(const std::string &text);

// Returns "dnn-torch run ffmpeg -i in.mp4 -vf ... out.mp4".  Filters before ours convert the video
// to what the model takes: RGB if the model would also take luma, and one of the sizes, if `sizes`
// is not null.
std::string command_line(const std::string &model, Channels channels, const FoundSizes *sizes,
                         const FilterOptions &options);

// Returns the same for another of our filters, with filters after it.  Drops the options that only
// dnn_torch has.
std::string command_line(const std::string &filter, const std::string &model, FilterOptions options,
                         const std::string &filters_after, const std::string &output);

} // namespace dnn_torch
