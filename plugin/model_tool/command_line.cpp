// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command_line.h"

#include "host/model/model_request.h"

#include <string_view>

namespace dnn_torch
{
namespace
{

// ffmpeg chooses the format that loses the least.
constexpr const char *rgb_of_any_depth = "format=gbrp|gbrp10|gbrp12|gbrp16,";

constexpr std::string_view blanks = " \n\t\r";

// Puts backslashes before characters that libavutil's av_get_token() would take for an end or a
// quote, and before blanks at either end, which it drops.
std::string escaped(std::string_view text, std::string_view special)
{
    size_t first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        if (i < first || i > last || special.find(text[i]) != special.npos)
            out += '\\';
        out += text[i];
    }
    return out;
}

// Returns a filter that crops a video to a multiple of the step, or scales it to the only size.
std::string size_filter(const FoundSizes &sizes)
{
    auto cut = [](std::string extent, const ExtentRule &rule) {
        const int offset = rule.smallest % rule.step;
        std::string step = std::to_string(rule.step), more = std::to_string(offset);
        if (offset)
            extent = "(" + extent + "-" + more + ")";
        return "trunc(" + extent + "/" + step + ")*" + step + (offset ? "+" + more : "");
    };
    if (!sizes.width.step || !sizes.height.step)
        return "scale=" + std::to_string(sizes.tried.width) + ":" +
               std::to_string(sizes.tried.height) + ",";
    if (sizes.width.step == 1 && sizes.height.step == 1)
        return {};
    return "crop=" + cut("iw", sizes.width) + ":" + cut("ih", sizes.height) + ",";
}

// Returns whether only the filter dnn_torch has this option of a request.  The other filters have
// their own `size`.
bool is_of_pictures(const std::string &option)
{
    const ModelOption *const row = find_model_option(option);
    return row && row->is_of_pictures && !row->programs.empty();
}

std::string with_options(const std::string &filter, const std::string &model,
                         const FilterOptions &options)
{
    std::string text = filter + "=model=" + graph_quoted(model);
    for (const auto &[name, value] : options)
        text += ":" + name + "=" + graph_quoted(value);
    return text;
}

std::string ffmpeg_with(const std::string &graph, const std::string &output)
{
    return "dnn-torch run ffmpeg -i in.mp4 -vf " + shell_quoted(graph) + " " + output;
}

} // namespace

std::string shell_quoted(const std::string &text)
{
    constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789@%_+=:,./-";
    if (!text.empty() && text.find_first_not_of(safe) == text.npos)
        return text;
    std::string quoted = "'";
    for (char c : text)
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    return quoted + "'";
}

std::string graph_quoted(const std::string &text)
{
    return escaped(escaped(text, "\\':"), "\\'[],;");
}

std::string command_line(const std::string &model, Channels channels, const FoundSizes *sizes,
                         const FilterOptions &options)
{
    std::string graph = channels == Channels::any ? rgb_of_any_depth : "";
    if (sizes)
        graph += size_filter(*sizes);
    return ffmpeg_with(graph + with_options("dnn_torch", model, options), "out.mp4");
}

std::string command_line(const std::string &filter, const std::string &model, FilterOptions options,
                         const std::string &filters_after, const std::string &output)
{
    std::erase_if(options, [](const auto &option) { return is_of_pictures(option.first); });
    return ffmpeg_with(with_options(filter, model, options) + filters_after, output);
}

} // namespace dnn_torch
