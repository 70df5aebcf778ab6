// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "request.h"

#include "base/compose.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <getopt.h>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

[[noreturn]] void refuse(const std::string &option, const std::string &value,
                         const std::string &wanted)
{
    throw UsageError(concat(option, " ", value, ": ", wanted));
}

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

void set_isolation(Request &request, const std::string &value)
{
    constexpr std::pair<const char *, Isolation> values[] = {{"auto", Isolation::automatic},
                                                             {"0", Isolation::off},
                                                             {"1", Isolation::on},
                                                             {"require", Isolation::required}};
    for (const auto &[name, isolation] : values)
        if (value == name) {
            request.isolate = value;
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

template <std::string ContractOptions::*field>
void set_contract(Request &request, const std::string &value)
{
    request.contract.*field = value;
}

template <std::string SizeOptions::*field>
void set_sizes(Request &request, const std::string &value)
{
    request.contract.sizes.*field = value;
}

struct Option {
    const char *name;  // behind "--"
    const char *value; // the value's name in the help; NULL: the option takes none
    const char *help;
    void (*set)(Request &request, const std::string &value);
    std::string_view commands = "inspect bench contract";
};

constexpr Option options[] = {
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
    {.name = "allow",
     .value = "NAMES",
     .help = "operators that the model may use though they are refused: a+b",
     .set = [](Request &request, const std::string &value) { request.allow = value; }},
    {.name = "as",
     .value = "WHAT",
     .help = "what the result becomes: picture, gray, alpha, lab, depth, index or colors",
     .set = set_contract<&ContractOptions::as>},
    {.name = "classes",
     .value = "NAMES",
     .help = "which classes of a segmentation are shown: person|car",
     .set = set_contract<&ContractOptions::classes>},
    {.name = "depth",
     .value = "LIMITS",
     .help = "what depth becomes black and white: auto or LOW..HIGH",
     .set = set_contract<&ContractOptions::depth>},
    {.name = "device",
     .value = "DEVICE",
     .help = "device to run the model on (cpu)",
     .set = [](Request &request, const std::string &value) { request.device = value; }},
    {.name = "engine",
     .value = "NAME",
     .help = "what runs the model: NAME of an engine-NAME.so (torch)",
     .set = [](Request &request, const std::string &value) { request.engine = value; },
     .commands = "inspect bench contract convert"},
    {.name = "fit",
     .value = "HOW",
     .help = "how frames come to a model of one size: auto, tile, scale or letterbox",
     .set = set_sizes<&SizeOptions::fit>,
     .commands = "inspect bench"},
    {.name = "force",
     .value = nullptr,
     .help = "replaces OUT, and the contract beside it",
     .set = [](Request &request, const std::string &) { request.force = true; },
     .commands = "convert"},
    {.name = "input",
     .value = "NAME",
     .help = "name of the model's input (the only one)",
     .set = [](Request &request, const std::string &value) { request.input = value; }},
    {.name = "inputs",
     .value = "VALUES",
     .help = "what the model gets beside pictures: NAME=VALUE|NAME=VALUE",
     .set = set_contract<&ContractOptions::inputs>},
    {.name = "isolate",
     .value = "HOW",
     .help = "the model in a process of its own: auto, 0, 1 or require (auto)",
     .set = set_isolation,
     .commands = "inspect bench contract convert"},
    {.name = "layout",
     .value = "LAYOUT",
     .help = "layout of the input, and of the output: nhwc or nhwc|nchw",
     .set = set_contract<&ContractOptions::layout>},
    {.name = "mean",
     .value = "NUMBERS",
     .help = "what is subtracted from each channel: one number or A|B|C",
     .set = set_contract<&ContractOptions::mean>},
    {.name = "multiple",
     .value = "N",
     .help = "what width and height must be multiples of",
     .set = set_contract<&ContractOptions::multiple>},
    {.name = "order",
     .value = "ORDER",
     .help = "which channel comes first: rgb or bgr",
     .set = set_contract<&ContractOptions::order>},
    {.name = "output",
     .value = "NAME",
     .help = "name of the model's output, where it returns several by name",
     .set = [](Request &request, const std::string &value) { request.output = value; }},
    {.name = "overlap",
     .value = "N",
     .help = "pixels by which tiles overlap: auto or a number",
     .set = set_sizes<&SizeOptions::overlap>,
     .commands = "inspect bench"},
    {.name = "padding",
     .value = "HOW",
     .help = "what frames are padded with: reflect or replicate",
     .set = set_contract<&ContractOptions::padding>},
    {.name = "range",
     .value = "RANGE",
     .help = "what black and white are: 1, 255 or LOW..HIGH",
     .set = set_contract<&ContractOptions::range>},
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
    {.name = "std",
     .value = "NUMBERS",
     .help = "what each channel is divided by then: one number or A|B|C",
     .set = set_contract<&ContractOptions::std>},
    {.name = "svg",
     .value = "FILE",
     .help = "draws the bars to FILE as well, as SVG",
     .set = set_svg_file,
     .commands = "bench"},
    {.name = "tile",
     .value = "WxH",
     .help = "runs frames in tiles: auto, 0 (never), N or WxH",
     .set = set_sizes<&SizeOptions::tile>,
     .commands = "inspect bench"},
    {.name = "timeout",
     .value = "N",
     .help = "seconds that one run of the model may take; 0 is no limit (600)",
     .set = [](Request &request,
               const std::string &value) { request.timeout = parse_timeout(value); },
     .commands = "inspect bench contract convert"},
    {.name = "type",
     .value = "TYPE",
     .help = "type of the samples of the input, such as uint8",
     .set = set_contract<&ContractOptions::type>},
};

std::vector<const Option *> options_of(std::string_view command)
{
    std::vector<const Option *> found;
    for (const Option &option : options)
        if (option.commands.find(command) != std::string_view::npos)
            found.push_back(&option);
    return found;
}

std::string names_of(const std::vector<const Option *> &known)
{
    std::string names;
    for (const Option *option : known)
        add_to_list(names, concat("--", option->name));
    return names;
}

// getopt_long() returns this number for the first option.  No letter has it.
constexpr int first_code = 256;

std::vector<option> for_getopt(const std::vector<const Option *> &known)
{
    std::vector<option> all;
    for (const Option *each : known)
        all.push_back({.name = each->name,
                       .has_arg = each->value ? required_argument : no_argument,
                       .flag = nullptr,
                       .val = first_code + static_cast<int>(all.size())});
    all.push_back({});
    return all;
}

void take_word(Request &request, bool converts, const std::string &word)
{
    std::string &place = request.model.empty() || !converts ? request.model : request.output_file;
    if (!place.empty())
        throw UsageError(word + (converts ? " is one file too many; give two"
                                          : " is one model too many; give one"));
    place = word;
}

// `word` is the last one that getopt_long() has read completely.
[[noreturn]] void refuse_option(const std::vector<const Option *> &known, std::string_view word)
{
    word = word.substr(0, word.find('='));
    if (optopt >= first_code)
        throw UsageError(concat(word, " takes no value"));
    const char letter[] = {'-', static_cast<char>(optopt), '\0'};
    throw UsageError(concat(optopt ? letter : word, " is no option; there are ", names_of(known)));
}

} // namespace

Request parse_request(int count, char **words)
{
    const std::string command = words[0];
    const std::vector<const Option *> known = options_of(command);
    const std::vector<option> all = for_getopt(known);
    const bool converts = command == "convert";
    Request request;
    optind = 0; // makes getopt_long() start again
    opterr = 0;
    for (int code; (code = getopt_long(count, words, "-:", all.data(), nullptr)) != -1;) {
        if (code == ':')
            throw UsageError(concat("--", known.at(static_cast<size_t>(optopt - first_code))->name,
                                    " needs a value"));
        if (code == '?')
            refuse_option(known, words[optind - 1]);
        if (code >= first_code)
            known[static_cast<size_t>(code - first_code)]->set(request, text_or_empty(optarg));
        else
            take_word(request, converts, optarg);
    }
    for (; optind < count; optind++) // behind "--"
        take_word(request, converts, words[optind]);
    if (request.model.empty() && !request.help)
        throw UsageError(concat("no model is given; write dnn-torch ", command,
                                converts ? " IN OUT.pt" : " MODEL"));
    if (converts && request.output_file.empty() && !request.help)
        throw UsageError("no file to write is given; write dnn-torch convert IN OUT.pt");
    return request;
}

std::string help_of(const std::string &command)
{
    std::string text =
        concat("usage: dnn-torch ", command,
               command == "convert" ? " IN OUT [OPTION...]\n\n"
                                      "OUT is TorchScript (.pt) or a file of weights "
                                      "(.safetensors)\n\n"
                                    : " MODEL [OPTION...]\n\n");
    for (const Option *option : options_of(command)) {
        std::string line =
            concat("--", option->name, option->value ? " " : "", text_or_empty(option->value));
        line.resize(std::max<size_t>(line.size() + 2, 18), ' ');
        text += concat("  ", line, option->help, "\n");
    }
    return text;
}

} // namespace dnn_torch
