// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "request.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

namespace dnn_torch
{
namespace
{

[[noreturn]] void refuse(const std::string &option, const std::string &value,
                         const std::string &wanted)
{
    throw UsageError(option + " " + value + ": " + wanted);
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
        refuse(option, value, "give a number from " + std::to_string(lround(least)) + " to 86400");
    return seconds;
}

std::chrono::microseconds parse_timeout(const std::string &value)
{
    std::chrono::duration<double> seconds(parse_seconds("--timeout", value, 0));
    return std::chrono::ceil<std::chrono::microseconds>(seconds);
}

using Setter = std::function<void(Request &, const std::string &)>;

std::map<std::string, Setter> setters_of(const std::string &command)
{
    std::map<std::string, Setter> setters = {
        {"--allow", [](Request &request, const std::string &value) { request.allow = value; }},
        {"--device", [](Request &request, const std::string &value) { request.device = value; }},
        {"--engine", [](Request &request, const std::string &value) { request.engine = value; }},
        {"--input", [](Request &request, const std::string &value) { request.input = value; }},
        {"--output", [](Request &request, const std::string &value) { request.output = value; }},
    };
    setters["--size"] = [](Request &request, const std::string &value) {
        request.size = parse_size(value);
    };
    setters["--timeout"] = [](Request &request, const std::string &value) {
        request.timeout = parse_timeout(value);
    };
    if (command == "bench")
        setters["--seconds"] = [](Request &request, const std::string &value) {
            request.seconds = parse_seconds("--seconds", value, 1);
        };
    return setters;
}

std::string names_of(const std::map<std::string, Setter> &setters)
{
    std::string names = "--json";
    for (const auto &[name, setter] : setters)
        names += ", " + name;
    return names;
}

// "--size 64x48" or "--size=64x48"; leaves `words` at the last one that it took.
void take_option(Request &request, const std::map<std::string, Setter> &setters,
                 char *const *&words)
{
    std::string word = *words;
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    auto setter = setters.find(name);
    if (setter == setters.end())
        throw UsageError(name + " is no option; there are " + names_of(setters));
    if (equals != word.npos)
        return setter->second(request, word.substr(equals + 1));
    if (!words[1])
        throw UsageError(name + " needs a value");
    setter->second(request, *++words);
}

} // namespace

Request parse_request(const std::string &command, char *const *words)
{
    Request request;
    std::map<std::string, Setter> setters = setters_of(command);
    bool options = true, has_model = false;
    for (; *words; words++) {
        std::string word = *words;
        if (options && word == "--") {
            options = false;
        } else if (options && word == "--json") {
            request.json = true;
        } else if (options && word.size() > 1 && word.front() == '-') {
            take_option(request, setters, words);
        } else if (has_model) {
            throw UsageError(word + " is one model too many; give one");
        } else {
            request.model = word;
            has_model = true;
        }
    }
    if (request.model.empty())
        throw UsageError("no model is given; write dnn-torch " + command + " MODEL");
    return request;
}

} // namespace dnn_torch
