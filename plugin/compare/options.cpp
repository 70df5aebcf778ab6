// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include "base/compose.h"
#include "model_tool/option_words.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

template <class Number>
Number parse_number(const char *option, std::string_view value, Number least, Number most)
{
    Number number{};
    const char *const end = value.data() + value.size();
    const auto result = std::from_chars(value.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || !(number >= least && number <= most))
        refuse(
            option, value,
            concat("give a number from ", static_cast<int>(least), " to ", static_cast<int>(most)));
    return number;
}

constexpr int most_frames = 20;
constexpr double most_seconds = 1e6;

void set_times(CompareOptions &options, const std::string &value)
{
    options.at_seconds.clear();
    for (std::string_view left = value;; left.remove_prefix(left.find(',') + 1)) {
        const std::string_view time = left.substr(0, left.find(','));
        options.at_seconds.push_back(parse_number("--at", time, 0.0, most_seconds));
        if (time.size() == left.size())
            break;
    }
    if (options.at_seconds.size() > most_frames)
        refuse("--at", value, concat("give at most ", most_frames, " times"));
}

// A folder, a pipe or a link to nowhere is no model, whatever its name is.
bool is_regular(const fs::directory_entry &entry)
{
    std::error_code error;
    return entry.is_regular_file(error);
}

// Sorted by name.
std::vector<std::string> models_in(const std::string &folder)
{
    constexpr std::string_view kinds[] = {".ckpt", ".pt", ".pt2", ".pth", ".safetensors"};
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error))
        if (std::find(std::begin(kinds), std::end(kinds), each->path().extension()) !=
                std::end(kinds) &&
            is_regular(*each))
            found.push_back(each->path());
    if (error)
        refuse("--models", folder, error.message());
    if (found.empty())
        refuse("--models", folder, concat("has no file that ends in ", joined(kinds)));
    std::sort(found.begin(), found.end());
    return found;
}

void add_folder(CompareOptions &options, const std::string &folder)
{
    const std::vector<std::string> models = models_in(folder);
    options.models.insert(options.models.end(), models.begin(), models.end());
    options.by_speed = true;
}

struct Option {
    const char *name;  // without "--"
    const char *value; // NULL: the option takes no value
    const char *help;
    void (*set)(CompareOptions &options, const std::string &value);
    bool may_be_empty = false;
};

constexpr Option known[] = {
    {"at", "SECONDS", "times of the frames, such as 3.2,7", set_times},
    {"ffmpeg", "PROGRAM", "the ffmpeg to run ($FFMPEG, or ffmpeg)",
     [](CompareOptions &options, const std::string &value) { options.ffmpeg = value; }},
    {"filter", "OPTIONS", "options of dnn_torch for all models, such as tile=256",
     [](CompareOptions &options, const std::string &value) { options.filter = value; }, true},
    {"frames", "N", "chooses so many frames, of most detail and motion (3)",
     [](CompareOptions &options, const std::string &value) {
         options.frames = parse_number("--frames", value, 1, most_frames);
     }},
    {"help", nullptr, "prints this",
     [](CompareOptions &options, const std::string &) { options.help = true; }},
    {"html", "FILE", "writes the page to FILE (compare.html)",
     [](CompareOptions &options, const std::string &value) { options.html = value; }},
    {"models", "DIR", "takes all models of a folder, and sorts them by speed", add_folder},
    {"png", "FILE", "draws the pictures side by side to FILE as well",
     [](CompareOptions &options, const std::string &value) { options.png = value; }},
    {"reference", "CLIP", "the clip as it should be, for PSNR, SSIM and VMAF",
     [](CompareOptions &options, const std::string &value) { options.reference = value; }},
    {"timeout", "N", "seconds that each model may take (120)",
     [](CompareOptions &options, const std::string &value) {
         options.timeout_seconds = parse_number("--timeout", value, 1.0, 86400.0);
     }},
};

void apply(CompareOptions &options, const Option &option, const std::string &value)
{
    if (option.value && value.empty() && !option.may_be_empty)
        throw UsageError(concat("--", option.name, " needs a value"));
    option.set(options, value);
}

void take_word(CompareOptions &options, const std::string &word)
{
    if (word.empty())
        throw UsageError("the name of a clip or a model is empty");
    if (options.clip.empty())
        options.clip = word;
    else
        options.models.push_back(word);
}

void check_input(const std::string &path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
        throw UsageError(concat("there is no file ", path));
    if (fs::is_directory(status))
        throw UsageError(concat(path, " is a folder; give a file, or --models ", path));
    if (!fs::is_regular_file(status))
        throw UsageError(concat(path, " is no regular file"));
}

// Follows symbolic links to where a file is or would be.
fs::path final_path(fs::path path)
{
    constexpr int most_links = 40;
    std::error_code error;
    for (int i = 0; i < most_links && fs::is_symlink(path, error); i++)
        path = path.parent_path() / fs::read_symlink(path, error);
    return fs::weakly_canonical(fs::absolute(path, error), error);
}

// An output must not replace an input, or another output.
void check_output(const CompareOptions &options, const char *option, const std::string &output)
{
    std::vector<std::string> inputs = options.models;
    inputs.insert(inputs.end(), {options.clip, options.reference});
    std::error_code error;
    for (const std::string &input : inputs)
        if (!output.empty() && fs::equivalent(output, input, error))
            refuse(option, output, "is read; give another file");
}

void check(CompareOptions &options)
{
    if (options.clip.empty() || options.models.empty())
        throw UsageError("no model is given; write dnn-torch compare CLIP MODEL...");
    check_input(options.clip);
    for (const std::string &model : options.models)
        check_input(model);
    if (!options.reference.empty())
        check_input(options.reference);
    check_output(options, "--html", options.html);
    check_output(options, "--png", options.png);
    if (final_path(options.html) == final_path(options.png))
        refuse("--png", options.png, "is the page's file; give another one");
    if (options.ffmpeg.empty())
        options.ffmpeg = text_or_empty(getenv("FFMPEG"));
    if (options.ffmpeg.empty())
        options.ffmpeg = "ffmpeg";
}

} // namespace

CompareOptions parse_compare(int count, char **words)
{
    CompareOptions options;
    read_words(
        count, words, known,
        [&](const Option &option, const std::string &value) { apply(options, option, value); },
        [&](const std::string &word) { take_word(options, word); });
    if (!options.help)
        check(options);
    return options;
}

std::string help_of_compare()
{
    std::string text = "usage: dnn-torch compare CLIP MODEL... [OPTION...]\n\n";
    for (const Option &option : known) {
        std::string line =
            concat("--", option.name, option.value ? " " : "", text_or_empty(option.value));
        line.resize(std::max<size_t>(line.size() + 2, 19), ' ');
        text += concat("  ", line, option.help, "\n");
    }
    return text;
}

} // namespace dnn_torch
