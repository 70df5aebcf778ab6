// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "graph_text.h"

#include "../ffmpeg_pointers.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <cstring>
#include <new>
#include <optional>

namespace dnn_torch
{
namespace
{

constexpr const char *whitespace = " \n\t\r";

void skip_whitespace(const char **at)
{
    *at += strspn(*at, whitespace);
}

std::string token(const char **at, const char *terminators)
{
    TextPointer text(av_get_token(at, terminators));
    if (!text)
        throw std::bad_alloc();
    return text.get();
}

// How many there are, or nothing at one that is empty or never closed.
std::optional<size_t> skip_labels(const char **at)
{
    size_t count = 0;
    while (**at == '[') {
        ++*at;
        if (token(at, "]").empty() || **at != ']')
            return std::nullopt;
        ++*at;
        ++count;
        skip_whitespace(at);
    }
    return count;
}

// "sws_flags=...;" may open a graph; without its ';' the whole text is at fault.
bool skip_scaler_flags(const char **at)
{
    if (strncmp(*at, "sws_flags=", 10) != 0)
        return true;
    const char *end = strchr(*at, ';');
    *at = end ? end + 1 : *at;
    return end != nullptr;
}

FilterText scan_filter(const char *text, const char **at, size_t index)
{
    FilterText filter{};
    filter.begin = static_cast<size_t>(*at - text);
    filter.index = index;
    filter.name = token(at, "=,;[");
    if (size_t sign = filter.name.find('@'); sign != std::string::npos) {
        filter.instance = filter.name.substr(sign + 1);
        filter.name.resize(sign);
    }
    if (**at == '=') {
        ++*at;
        filter.has_arguments = true;
        filter.arguments = token(at, "[],;");
    }
    filter.end = static_cast<size_t>(*at - text);
    return filter;
}

} // namespace

std::string FilterText::context_name() const
{
    return instance.empty() ? "Parsed_" + name + "_" + std::to_string(index)
                            : name + "@" + instance;
}

std::vector<FilterText> scan_graph(const char *text, bool *whole)
{
    std::vector<FilterText> filters;
    const char *at = text;
    bool faulty = false;

    skip_whitespace(&at);
    faulty = !skip_scaler_flags(&at);
    while (*at && !faulty) {
        skip_whitespace(&at);
        auto labels = skip_labels(&at);
        if (!labels) {
            faulty = true;
            break;
        }
        filters.push_back(scan_filter(text, &at, filters.size()));
        filters.back().input_labels = *labels;
        faulty = !skip_labels(&at);
        skip_whitespace(&at);
        faulty = faulty || (*at && *at != ',' && *at != ';');
        at += *at && !faulty;
    }
    if (whole)
        *whole = !faulty;
    return filters;
}

std::string replace_filters(std::string_view text, const std::vector<FilterText> &filters,
                            const std::vector<std::string> &replacements)
{
    std::string result;
    size_t copied = 0;
    for (size_t i = 0; i < filters.size(); i++) {
        result += text.substr(copied, filters[i].begin - copied);
        result += replacements[i];
        copied = filters[i].end;
    }
    result += text.substr(copied);
    return result;
}

} // namespace dnn_torch
