// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graph strings: with dnn_torch in them they are parsed, and refused, as the same strings
// with a filter of libavfilter's.
#include "../graph_outcome.h"
#include "changes.h"
#include "digest.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

constexpr const char *ours = "dnn_torch";
// In messages more than that is cut off, and not always at the same place.
constexpr size_t longest_text = 2000;

// `split=100000000` and `split=1e9` keep libavfilter busy, and take the memory that there is.
bool has_large_number(const std::string &text)
{
    size_t digits = 0;
    for (const char c : text) {
        const bool is_digit = c >= '0' && c <= '9';
        const bool is_letter = std::isalpha(static_cast<unsigned char>(c));
        if (digits > 0 && (is_letter || digits > 3))
            return true;
        digits = is_digit ? digits + 1 : 0;
    }
    return digits > 3;
}

// FFmpeg 5.1 itself crashes at `sws_flags=i;scale=6:8`, when it logs what is wrong with it.
bool has_scaler_flags(const std::string &text)
{
    return text.find("scale") != std::string::npos && text.find("flags") != std::string::npos;
}

size_t count_ours(const std::string &text)
{
    size_t count = 0;
    for (size_t at = 0; (at = text.find(ours, at)) != std::string::npos; at++)
        count++;
    return count;
}

// `dnn\_torch` is a name that cannot be replaced as a word, and `nadnn_torch` begins with
// `nan` once it is replaced.
bool has_hidden_name(std::string text)
{
    const size_t seen = count_ours(text);
    for (size_t at = 0; (at = text.find(ours, at)) != std::string::npos; at++)
        if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])))
            return true;
    text.erase(
        std::remove_if(text.begin(), text.end(), [](char c) { return c == '\\' || c == '\''; }),
        text.end());
    return count_ours(text) != seen;
}

std::string told(const FilterRegistry &registry, graph_outcome::Parse parse,
                 const std::string &text)
{
    return graph_outcome::with_name(graph_outcome::outcome(registry, parse, text), ours,
                                    graph_outcome::built_in);
}

Outcome compare(const std::string &text, graph_outcome::Parse parse, const char *way)
{
    const std::string theirs = told(dnn_torch::real_registry(), parse,
                                    graph_outcome::with_name(text, ours, graph_outcome::built_in));
    if (told(*dnn_torch::registry_wrappers(), parse, text) != theirs)
        return {Ending::fault, 0, std::string("another outcome than libavfilter's, by ") + way};
    fuzz::Digest digest;
    digest.add(theirs);
    const bool is_accepted = theirs.rfind("returns -", 0) != 0;
    return {is_accepted ? Ending::accepted : Ending::refused, digest.value(), theirs};
}

Outcome run(std::string_view input)
{
    // A line end closes each file of the corpus; a zero ends what libavfilter sees.
    std::string text(input.substr(0, input.find('\0')));
    if (!text.empty() && text.back() == '\n')
        text.pop_back();
    if (text.size() > longest_text || has_large_number(text) || has_scaler_flags(text) ||
        has_hidden_name(text))
        return {};
    Outcome outcome = compare(text, graph_outcome::parse_ptr, "parse_ptr");
#if LIBAVFILTER_VERSION_MAJOR >= 9
    if (outcome.ending != Ending::fault)
        outcome = compare(text, graph_outcome::segments, "segments");
#endif
    return outcome.ending == Ending::fault ? outcome
                                           : compare(text, graph_outcome::parse2, "parse2");
}

const fuzz::Language language = {{"null",
                                  "hflip",
                                  "split",
                                  "split=2",
                                  "hstack",
                                  "nullsink",
                                  "anullsrc",
                                  "scale=16:8",
                                  "dnn_torch",
                                  "dnn_torch=black:white",
                                  "dnn_torch@a=whitept=white",
                                  "dnn_torch@",
                                  "dnn_torch=nosuch=1",
                                  "nosuch",
                                  "[in]",
                                  "[out]",
                                  "[a]",
                                  "[b]",
                                  "[",
                                  "]",
                                  "[]",
                                  ",",
                                  ";",
                                  "=",
                                  ":",
                                  "@",
                                  "'",
                                  "\\",
                                  "\\'",
                                  "\\\\",
                                  " ",
                                  "\n",
                                  "\t",
                                  "sws_flags=bicubic;",
                                  "sws_flags=",
                                  "enable=0",
                                  ":blackpt=gray"},
                                 3000};

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return fuzz::change_by_family(input, family, random, language, seeds);
}

void prepare(const fuzz::Inputs &)
{
    dnn_torch::set_real_registry(graph_outcome::libavfilter_itself());
    dnn_torch::register_filters(dnn_torch::ours_alone());
    av_log_set_callback(graph_outcome::log_to_string);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "graph",
    .prepare = prepare,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 10,
    .memory = uint64_t{1} << 30,
    .inputs_a_fork = 500,
};
