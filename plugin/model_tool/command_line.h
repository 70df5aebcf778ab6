// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The command line to use a model with, quoted for whoever reads it on the way.
#pragma once

#include "find_sizes.h"
#include "host/tasks/model_probe.h"

#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// For a shell: as it is where that is safe, else in quotes.
std::string shell_quoted(const std::string &text);

// For the value of an option within a filter graph, which is read twice.
std::string graph_quoted(const std::string &text);

// "dnn-torch run ffmpeg -i in.mp4 -vf ... out.mp4", with filters before ours that
// bring a video to what the model takes: a size, and RGB where the model would
// take luma as well.
std::string command_line(const std::string &model, Channels channels, const FoundSizes &sizes,
                         const std::vector<std::pair<std::string, std::string>> &options);

} // namespace dnn_torch
