// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads command lines by a table of options.  A row has a `name`, without "--", and a `value`,
// which is NULL if the option takes none.  Not thread-safe, because getopt_long() is not.
#pragma once

#include "base/compose.h"
#include "request.h"

#include <getopt.h>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

[[noreturn]] inline void refuse(std::string_view option, std::string_view value,
                                std::string_view hint)
{
    throw UsageError(concat(option, value.empty() ? "" : " ", value, ": ", hint));
}

// getopt_long() returns this number for the first option.  It is above all letters.
constexpr int first_option_code = 256;

template <class Options> std::vector<option> for_getopt(const Options &known)
{
    std::vector<option> all;
    for (const auto &each : known)
        all.push_back({.name = each.name,
                       .has_arg = each.value ? required_argument : no_argument,
                       .flag = nullptr,
                       .val = first_option_code + static_cast<int>(all.size())});
    all.push_back({});
    return all;
}

// `word` is the last word that getopt_long() has read completely.
template <class Options>
[[noreturn]] void refuse_option(const Options &known, std::string_view word)
{
    word = word.substr(0, word.find('='));
    if (optopt >= first_option_code)
        throw UsageError(concat(word, " takes no value"));
    std::string names;
    for (const auto &each : known)
        add_to_list(names, concat("--", each.name));
    const char letter[] = {'-', static_cast<char>(optopt), '\0'};
    throw UsageError(concat(optopt ? letter : word, " is no option; there are ", names));
}

// Calls `apply` with each option's row and value, and `take` with each other word.  `words` begins
// with the command's name.  Throws UsageError.
template <class Options, class Apply, class Take>
void read_words(int count, char **words, const Options &known, const Apply &apply, const Take &take)
{
    const std::vector<option> all = for_getopt(known);
    const auto row = [&](int code) -> const auto &
    {
        return std::begin(known)[code - first_option_code];
    };
    optind = 0; // makes getopt_long() start again
    opterr = 0;
    for (int code; (code = getopt_long(count, words, "-:", all.data(), nullptr)) != -1;) {
        if (code == ':')
            throw UsageError(concat("--", row(optopt).name, " needs a value"));
        if (code == '?')
            refuse_option(known, words[optind - 1]);
        if (code >= first_option_code)
            apply(row(code), text_or_empty(optarg));
        else
            take(optarg);
    }
    for (; optind < count; optind++) // after "--"
        take(words[optind]);
}

} // namespace dnn_torch
