// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Concatenates texts, and puts counts into words.  Any thread.
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace dnn_torch
{

// Returns "" for null.
inline std::string text_or_empty(const char *text)
{
    return text ? text : "";
}

inline void append_part(std::string &text, std::string_view part)
{
    text += part;
}

template <std::integral Number> void append_part(std::string &text, Number part)
{
    text += std::to_string(part);
}

// Concatenates texts and whole numbers: concat("device cuda:", 3, " is lost").
//
// libfmt would do more, but costs half a second of compile time in every file that
// includes it, and its major version differs in each suite.  std::format replaces this
// when GCC 12 is no longer supported.
template <class... Parts> std::string concat(const Parts &...parts)
{
    std::string text;
    (append_part(text, parts), ...);
    return text;
}

// Appends `item` to a list, after `between` unless it is the first.
inline void add_to_list(std::string &list, std::string_view item, std::string_view between = ", ")
{
    if (!list.empty())
        list += between;
    list += item;
}

// Returns "a, b, c".
template <class Items> std::string joined(const Items &items, std::string_view between = ", ")
{
    std::string list;
    for (const auto &item : items)
        add_to_list(list, item, between);
    return list;
}

// Returns "8.44.100" for the result of avfilter_version().
inline std::string version_text(unsigned version)
{
    return concat(version >> 16, ".", version >> 8 & 255, ".", version & 255);
}

// Returns "1 frame", "2 frames".  `many` is the plural, if it does more than add an s.
std::string counted(std::integral auto count, std::string_view noun, std::string_view many = {})
{
    if (count == 1)
        return concat("1 ", noun);
    return many.empty() ? concat(count, " ", noun, "s") : concat(count, " ", many);
}

inline std::string counted_classes(std::integral auto count)
{
    return counted(count, "class", "classes");
}

// Returns "512 bytes", "1.5 KiB", "234 MiB".
inline std::string bytes_in_words(double bytes)
{
    constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB"};
    constexpr int last = 3;
    int unit = 0;
    for (; bytes >= 1024 && unit < last; unit++)
        bytes /= 1024;
    char text[32];
    snprintf(text, sizeof(text), "%.*f %s", unit && bytes < 100 ? 1 : 0, bytes, units[unit]);
    return text;
}

} // namespace dnn_torch
