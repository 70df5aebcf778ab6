// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the filters in the text of a filter graph, by libavfilter's grammar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// One `name@instance=arguments` of a graph's text.
struct FilterText {
    size_t begin, end;     // where it stands in the text, labels excluded
    size_t index;          // its place among all filters of the graph, from 0
    std::string name;      // unescaped, without the instance
    std::string instance;  // what follows the '@', or empty
    std::string arguments; // unescaped once, as libavfilter hands them to the filter
    bool has_arguments;    // an empty `=` counts
    size_t input_labels;   // before it

    // The name that libavfilter gives to a context made from this text.
    std::string context_name() const;
};

// All filters up to the end or to the first fault, which is libavfilter's to
// report; `whole`, if given, tells which of the two it was.
std::vector<FilterText> scan_graph(const char *text, bool *whole = nullptr);

// The text with each given filter (in ascending order) replaced by its replacement.
std::string replace_filters(std::string_view text, const std::vector<FilterText> &filters,
                            const std::vector<std::string> &replacements);

} // namespace dnn_torch
