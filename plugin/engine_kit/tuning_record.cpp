// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_record.h"

#include "base/terminal.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr std::string_view head = "dnn-torch tuning 5", end = "end";
// A record is invalid if its run takes over a day, or more memory than any machine has.
constexpr double longest_run = 86400;
constexpr int64_t largest_run = int64_t{1} << 50;
constexpr double most_operations = 1e18;
constexpr std::string_view measured = "measured", guessed = "guessed";
constexpr std::string_view kept = "kept", refused = "refused";

template <class Number> std::string number_text(Number number)
{
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, number);
    return std::string(text, written.ptr);
}

template <class Number> bool parse(std::string_view text, Number &number)
{
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::vector<std::string> lines_of(const std::string &contents)
{
    std::vector<std::string> lines;
    for (size_t at = 0, next; (next = contents.find('\n', at)) != std::string::npos; at = next + 1)
        lines.push_back(contents.substr(at, next - at));
    return lines;
}

} // namespace

bool is_tuning_line(std::string_view text)
{
    return text.find_first_of("\n\t") == std::string_view::npos &&
           dnn_torch::printable(text) == text;
}

std::string text_of(const TuningRecord &record, const std::string &line)
{
    for (const std::string &text : {record.variant, record.precision, record.notice, record.hint})
        if (!is_tuning_line(text))
            return "";
    std::string contents;
    for (const std::string &each :
         {std::string(head), line, record.variant, record.precision,
          number_text(record.run_seconds), number_text(record.run_bytes), record.notice,
          record.hint, number_text(record.run_operations),
          std::string(record.is_measured ? measured : guessed),
          std::string(record.refused_optimize ? refused : kept),
          std::string(record.refused_precision ? refused : kept), std::string(end)})
        contents += each + "\n";
    return contents;
}

std::optional<TuningRecord> parse_record(const std::string &text, const std::string &line)
{
    const std::vector<std::string> lines = lines_of(text);
    if (lines.size() != 13 || lines[0] != head || lines[1] != line || lines[12] != end ||
        !std::all_of(lines.begin(), lines.end(), is_tuning_line))
        return std::nullopt;
    TuningRecord record = {.variant = lines[2],
                           .precision = lines[3],
                           .notice = lines[6],
                           .hint = lines[7],
                           .is_measured = lines[9] == measured,
                           .refused_optimize = lines[10] == refused,
                           .refused_precision = lines[11] == refused};
    if ((!record.is_measured && lines[9] != guessed) ||
        (!record.refused_optimize && lines[10] != kept) ||
        (!record.refused_precision && lines[11] != kept) || !parse(lines[4], record.run_seconds) ||
        !parse(lines[5], record.run_bytes) ||
        !(record.run_seconds >= 0 && record.run_seconds <= longest_run) || record.run_bytes < 0 ||
        record.run_bytes > largest_run || !parse(lines[8], record.run_operations) ||
        !(record.run_operations >= 0 && record.run_operations <= most_operations))
        return std::nullopt;
    return record;
}

} // namespace engine_torch
