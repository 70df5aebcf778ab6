// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The command line of `dnn-torch compare`.
#pragma once

#include <string>
#include <vector>

namespace dnn_torch
{

struct CompareOptions {
    std::string clip, reference;     // "": no reference
    std::vector<std::string> models; // in the order of the columns
    bool by_speed = false;           // of the columns instead
    std::vector<double> at_seconds;  // empty: frames are chosen
    int frames = 3;                  // to choose
    std::string filter;              // further options of the filter, as in a graph
    std::string html = "compare.html";
    std::string png; // "": none
    std::string ffmpeg;
    double timeout_seconds = 120; // of each model
    bool help = false;
};

// Parses a command line that begins with the command's name.  Throws UsageError.  Not thread-safe.
CompareOptions parse_compare(int count, char **words);

std::string help_of_compare();

} // namespace dnn_torch
