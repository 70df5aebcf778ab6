// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detect_parameters.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <charconv>
#include <optional>

namespace dnn_torch
{
namespace
{

std::optional<int> number_of(const std::string &text)
{
    int number = 0;
    const char *const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, number);
    return fault == std::errc() && end == last && number >= 0 ? std::optional(number)
                                                              : std::nullopt;
}

std::string some_of(const std::vector<std::string> &labels)
{
    constexpr size_t most = 8;
    std::string list;
    for (size_t i = 0; i < std::min(labels.size(), most); i++)
        add_to_list(list, printable(labels[i].substr(0, 40)));
    return labels.size() > most ? list + ", ..." : list;
}

[[noreturn]] void refuse(const std::string &wanted, const ClassNames &names)
{
    const std::string fault =
        concat("classes: the model knows no '", printable(wanted.substr(0, 100)), "'");
    if (!names.labels.empty())
        throw Error(AVERROR(EINVAL),
                    concat(fault, "; it knows ", names.labels.size(), ": ", some_of(names.labels)));
    const std::string numbers =
        names.count > 0 ? concat(" from 0 to ", names.count - 1) : std::string();
    throw Error(AVERROR(EINVAL), concat(fault, "; without labels, classes are numbers", numbers,
                                        ", and labels=coco, labels=voc or labels=FILE gives "
                                        "them names"));
}

// Several classes may have the same name.  A label takes precedence over a number.
std::vector<int> classes_of(const std::string &wanted, const ClassNames &names)
{
    std::vector<int> classes;
    for (size_t i = 0; i < names.labels.size(); i++)
        if (names.labels[i] == wanted)
            classes.push_back(static_cast<int>(i));
    const int known = std::max(names.count, static_cast<int>(names.labels.size()));
    const std::optional<int> number = number_of(wanted);
    if (classes.empty() && number && (known == 0 || *number < known))
        classes.push_back(*number);
    return classes;
}

} // namespace

void check_classes(const std::vector<std::string> &wanted, const ClassNames &names)
{
    for (const std::string &each : wanted)
        if (classes_of(each, names).empty())
            refuse(each, names);
}

WantedClasses::WantedClasses(const std::vector<std::string> &wanted, const ClassNames &names)
    : all_(wanted.empty())
{
    for (const std::string &each : wanted)
        for (const int number : classes_of(each, names))
            numbers_.push_back(number);
    std::sort(numbers_.begin(), numbers_.end());
}

bool WantedClasses::has(int label) const
{
    return all_ || std::binary_search(numbers_.begin(), numbers_.end(), label);
}

} // namespace dnn_torch
