// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "request.h"

#include "base/compose.h"
#include "option_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

template <class Number> bool parse(const char *&at, const char *end, Number &number)
{
    auto result = std::from_chars(at, end, number);
    at = result.ptr;
    return result.ec == std::errc();
}

Size parse_size(const std::string &value)
{
    const char *at = value.data(), *end = at + value.size();
    Size size{};
    bool parsed = parse(at, end, size.width) && at != end && *at++ == 'x' &&
                  parse(at, end, size.height) && at == end;
    if (!parsed || size.width < 1 || size.height < 1 || size.width > 16384 || size.height > 16384)
        refuse("--size", value, "give a size such as 640x360");
    return size;
}

double parse_seconds(const char *option, const std::string &value, double least)
{
    const char *at = value.data(), *end = at + value.size();
    double seconds = 0;
    if (!parse(at, end, seconds) || at != end || !(seconds >= least && seconds <= 86400))
        refuse(option, value, concat("give a number from ", lround(least), " to 86400"));
    return seconds;
}

std::chrono::microseconds parse_timeout(const std::string &value)
{
    std::chrono::duration<double> seconds(parse_seconds("--timeout", value, 0));
    return std::chrono::ceil<std::chrono::microseconds>(seconds);
}

constexpr std::pair<const char *, Isolation> isolations[] = {{"auto", Isolation::automatic},
                                                             {"0", Isolation::off},
                                                             {"1", Isolation::on},
                                                             {"require", Isolation::required}};

void set_isolation(Request &request, const std::string &value)
{
    for (const auto &[name, isolation] : isolations)
        if (value == name) {
            request.isolation = isolation;
            return;
        }
    refuse("--isolate", value, "give auto, 0, 1 or require");
}

void set_svg_file(Request &request, const std::string &value)
{
    if (value.empty())
        refuse("--svg", value, "give the name of a file");
    request.svg_file = value;
}

struct Option {
    const char *name;  // without "--"
    const char *value; // the value's name in the help; NULL: the option takes no value
    const char *help;
    void (*set)(Request &request, const std::string &value);
    std::string_view commands = "inspect bench contract";
    std::string &(*text_in)(ModelRequest &request) = nullptr; // instead of `set`
    const char *default_value = nullptr;

    void apply(Request &request, const std::string &text) const
    {
        if (text_in)
            text_in(request) = text;
        else
            set(request, text);
    }
};

// Options that are not in model_option_rows.
constexpr Option own_options[] = {
    {.name = "json",
     .value = nullptr,
     .help = "prints one JSON object",
     .set = [](Request &request, const std::string &) { request.json = true; },
     .commands = "inspect bench"},
    {.name = "help",
     .value = nullptr,
     .help = "prints this",
     .set = [](Request &request, const std::string &) { request.help = true; },
     .commands = "inspect bench contract convert"},
    {.name = "force",
     .value = nullptr,
     .help = "replaces OUT, and the contract next to it",
     .set = [](Request &request, const std::string &) { request.force = true; },
     .commands = "convert"},
    {.name = "isolate",
     .value = "HOW",
     .help = "the model in a process of its own: auto, 0, 1 or require (auto)",
     .set = set_isolation,
     .commands = "inspect bench contract convert"},
    {.name = "seconds",
     .value = "N",
     .help = "time to measure in (30)",
     .set =
         [](Request &request, const std::string &value) {
             request.seconds = parse_seconds("--seconds", value, 1);
         },
     .commands = "bench"},
    {.name = "size",
     .value = "WxH",
     .help = "size of the pictures to run it on",
     .set = [](Request &request, const std::string &value) { request.size = parse_size(value); }},
    {.name = "svg",
     .value = "FILE",
     .help = "draws the bars to FILE as well, as SVG",
     .set = set_svg_file,
     .commands = "bench"},
    {.name = "timeout",
     .value = "N",
     .help = "seconds that one run of the model may take; 0 is no limit (600)",
     .set = [](Request &request,
               const std::string &value) { request.timeout = parse_timeout(value); },
     .commands = "inspect bench contract convert"},
};

std::vector<Option> options_of(std::string_view command)
{
    std::vector<Option> all(std::begin(own_options), std::end(own_options));
    for (const ModelOption &row : model_option_rows)
        all.push_back({.name = row.name,
                       .value = row.value,
                       .help = row.help,
                       .set = nullptr,
                       .commands = row.programs,
                       .text_in = row.text_in,
                       .default_value = row.default_value});
    std::erase_if(all, [&](const Option &option) {
        return option.commands.find(command) == std::string_view::npos;
    });
    std::sort(all.begin(), all.end(), [](const Option &one, const Option &other) {
        return std::string_view(one.name) < other.name;
    });
    return all;
}

void take_word(Request &request, bool converts, const std::string &word)
{
    std::string &place = request.path.empty() || !converts ? request.path : request.output_file;
    if (!place.empty())
        throw UsageError(word + (converts ? " is one file too many; give two"
                                          : " is one model too many; give one"));
    place = word;
}

} // namespace

Request parse_request(int count, char **words)
{
    const std::string command = words[0];
    const std::vector<Option> known = options_of(command);
    const bool converts = command == "convert";
    Request request;
    for (const Option &option : known)
        if (option.default_value)
            option.apply(request, option.default_value);
    read_words(
        count, words, known,
        [&](const Option &option, const std::string &value) { option.apply(request, value); },
        [&](const std::string &word) { take_word(request, converts, word); });
    if (request.path.empty() && !request.help)
        throw UsageError(concat("no model is given; write dnn-torch ", command,
                                converts ? " IN OUT.pt" : " MODEL"));
    if (converts && request.output_file.empty() && !request.help)
        throw UsageError("no file to write is given; write dnn-torch convert IN OUT.pt");
    return request;
}

const char *name_of(Isolation isolation)
{
    for (const auto &[name, value] : isolations)
        if (value == isolation)
            return name;
    return "";
}

std::string help_of(const std::string &command)
{
    std::string text =
        concat("usage: dnn-torch ", command,
               command == "convert" ? " IN OUT [OPTION...]\n\n"
                                      "OUT is TorchScript (.pt) or a file of weights "
                                      "(.safetensors)\n\n"
                                    : " MODEL [OPTION...]\n\n");
    for (const Option &option : options_of(command)) {
        std::string line =
            concat("--", option.name, option.value ? " " : "", text_or_empty(option.value));
        line.resize(std::max<size_t>(line.size() + 2, 18), ' ');
        text += concat("  ", line, option.help);
        text += option.default_value ? concat(" (", option.default_value, ")\n") : "\n";
    }
    return text;
}

} // namespace dnn_torch
